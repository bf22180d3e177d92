import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findChromium } from "./find-chromium.js";
import { readOutOf } from "./pictures.js";
import { askService, expectClean, openPage, settled, useStage, type Watched } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

describe.skipIf(reason !== "")(`instruments${reason}`, () => {
  const stage = useStage();
  const open = (query = "", options = {}) => openPage(stage.browser, `${stage.service.url}/${query}`, options);
  const close = async (watched: Watched) => {
    expectClean(watched);
    await watched.page.context().close();
  };

  it("offers the further fields of a dataset, each with its formula and the numbers of the service", async () => {
    const watched = await open("?dataset=magnetised&field=b&nodes=32&values=Lag4&subject=slice");
    const { page } = watched;
    const box = await page.locator("#slice").boundingBox();
    if (box === null) throw new Error("no slice");
    const options = { time: 0, spatialInterpolation: "Lag4", temporalInterpolation: "PCHIP" };
    for (const [field, operation, reduce] of [
      ["b", "GetMagneticField", (v: number[]) => Math.hypot(...v)],
      ["az", "GetVectorPotential", (v: number[]) => v[2]],
      ["density", "GetDensity", (v: number[]) => v[0]],
      ["temperature", "GetTemperature", (v: number[]) => v[0]],
    ] as const) {
      await page.selectOption("#field", field);
      await settled(page);
      await page.mouse.move(box.x + 0.3 * box.width, box.y + 0.6 * box.height);
      const [x, y, z, value] = await readOutOf(page);
      const record = await askService(stage.service, "magnetised", operation, options, [x, y, z] as number[]);
      expect(Math.fround(value as number)).toBe(Math.fround(reduce(record) as number));
      expect(await page.getAttribute("#slice-title span", "title")).not.toBe("");
    }
    expect(await page.textContent('td[data-probe="value"], td[data-probe="p"]')).toMatch(/^-?[\d.e-]+$/);
    await page.selectOption("#language", "python");
    await page.click("#call-box summary");
    const call = (await page.textContent("#call")) ?? "";
    expect(call).toContain("temperature = T, from GetTemperature");
    expect(call).toContain('ds.grid("temperature", ');
    await close(watched);
  });

  it("offers fields under names of their own in every figure, with the numbers of the service", async () => {
    const watched = await open("?dataset=layer&field=soiltemperature&nodes=32&values=Lag4&subject=slice&line=x");
    const { page } = watched;
    const offered = await page.$$eval("#field option", (all) => all.map((option) => option.textContent));
    expect(offered).toEqual(
      expect.arrayContaining(["soiltemperature: Temperature of the ground", "(sgsenergy)", "norm(heatflux)"]),
    );
    expect(offered).not.toContain("Subgrid energy");
    const box = await page.locator("#slice").boundingBox();
    if (box === null) throw new Error("no slice");
    for (const [name, field, reduce] of [
      ["heatflux.z", "heatflux", (v: number[]) => v[2]],
      ["norm(heatflux)", "heatflux", (v: number[]) => Math.hypot(...v)],
      ["(sgsenergy)", "sgsenergy", (v: number[]) => v[0]],
      ["soiltemperature", "soiltemperature", (v: number[]) => v[0]],
    ] as const) {
      await page.selectOption("#field", name);
      await settled(page);
      await page.mouse.move(box.x + 0.3 * box.width, box.y + 0.6 * box.height);
      const [x, y, z, value] = await readOutOf(page);
      const asked = { field, time: 0, spatialInterpolation: "Lag4", temporalInterpolation: "PCHIP" };
      const record = await askService(stage.service, "layer", "GetField", asked, [x, y, z] as number[]);
      expect(Math.fround(value as number)).toBe(Math.fround(reduce(record) as number));
    }
    expect(await page.textContent("#slice-readout")).toMatch(/K\s*$/);
    expect(new URL(page.url()).searchParams.get("field")).toBe("soiltemperature");
    await page.click("#profile-table summary");
    await page.waitForSelector("#profile-table tbody tr");
    const [first = []] = await page.$$eval("#profile-table tbody tr", (all) =>
      all.map((row) => [...row.children].map((cell) => Number(cell.textContent))),
    );
    const [y, z] = [await page.inputValue("#probe-y"), await page.inputValue("#probe-z")].map(Number);
    const asked = { field: "soiltemperature", time: 0, spatialInterpolation: "Lag4", temporalInterpolation: "PCHIP" };
    const place = [first[0], y, z] as number[];
    expect(Math.fround(first[1] as number)).toBe(
      (await askService(stage.service, "layer", "GetField", asked, place))[0],
    );
    const captions = await page.$$eval("#probe-tables h3", (all) => all.map((one) => one.textContent ?? ""));
    for (const name of ["heatflux", "sgsenergy", "soiltemperature"])
      expect(captions.some((text) => text.startsWith(`GetField ${name}:`))).toBe(true);
    await page.selectOption("#language", "python");
    await page.click("#call-box summary");
    expect(await page.textContent("#call")).toContain('ds.grid("soiltemperature", ');
    await page.selectOption("#language", "soap");
    expect(await page.textContent("#call")).toContain("SOAP has no operation for named fields");
    await close(watched);
  });

  it("opens on a scalar of a dataset that has nothing else, and has its statistics and its isosurface", async () => {
    const watched = await open("?dataset=ground&open=statistics,probe&surface=soiltemperature&scene=true&nodes=32");
    const { page } = watched;
    expect(await page.inputValue("#field")).toBe("soiltemperature");
    await expect.poll(() => page.textContent(".panel.statistics")).toMatch(/mean/i);
    await expect.poll(() => watched.requests.some((url) => /volume\?field=soiltemperature/.test(url))).toBe(true);
    await close(watched);
  });

  it("draws a profile between walls in wall units on demand", async () => {
    const watched = await open("?dataset=walls&field=ux&nodes=32&open=statistics&analysis=profile");
    const { page } = watched;
    await page.check("#wall-units");
    // Of 1.5 (1 - y²) the shear at both walls is 3; half the distance of the walls is 1, the viscosity 0.01.
    const friction = Math.sqrt(0.01 * 3);
    await expect.poll(() => page.textContent("#wall-scales")).toContain(`uτ = ${friction.toPrecision(5)}`);
    expect(await page.textContent("#wall-scales")).toContain(`Reτ = ${(friction / 0.01).toPrecision(5)}`);
    const legend = () => page.textContent("#analysis-plot .u-legend");
    await expect.poll(legend).toContain("logarithmic law");
    await expect.poll(() => page.textContent("#stress-plot .u-legend")).toContain("−⟨ux′uy′⟩⁺");
    expect(await page.locator("#brush").count()).toBe(0);
    // The link and the table have the wall units too.
    expect(page.url()).toContain("wallUnits=true");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#csv-analysis")]);
    const [head, ...rows] = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\r\n");
    expect(head).toBe(
      "y+,u+ from the lower wall,u+ from the upper wall,ux'ux'+,uy'uy'+,uz'uz'+,-ux'uy'+,u_tau (U_b),Re_tau",
    );
    expect(download.suggestedFilename()).toMatch(/-profile-ux-along-y-wall-units-t0\.csv$/);
    const [distance = 0, first = 0] = (rows[0] ?? "").split(",").map(Number);
    const away = (distance * 0.01) / friction;
    expect(first).toBeCloseTo((1.5 * (1 - (1 - away) ** 2)) / friction, 3);
    await page.reload();
    await expect.poll(legend).toContain("logarithmic law");
    await page.selectOption("#analysis", "energy");
    await expect.poll(() => page.textContent("#spectrum-marks")).toMatch(/^Dashed lines: 2\/3 rule/);
    const [spectrum] = await Promise.all([page.waitForEvent("download"), page.click("#csv-analysis")]);
    expect(readFileSync(await spectrum.path(), "utf8")).toMatch(/^.*k \(1\/h\).*E \(U_b²\)/);
    const marks = () => page.textContent("#analysis-of");
    if ((await page.locator("#analysis-frames").count()) > 0) {
      await page.selectOption("#analysis-frames", "all");
      await expect.poll(marks).toMatch(/^All \d+ stored times: /);
      await page.selectOption("#analysis-frames", "one");
      await expect.poll(marks).toMatch(/^Frame t = /);
    }
    await page.selectOption("#analysis", "profile");
    await expect.poll(legend).toContain("logarithmic law");
    await page.uncheck("#wall-units");
    await expect.poll(legend).toContain("mean + rms");
    expect(await page.locator("#wall-scales, #stress-plot").count()).toBe(0);
    // The chart has the name of the list, and the table that the service writes says its units too.
    await expect.poll(() => page.getAttribute("#analysis-plot", "aria-label")).toContain("Velocity x (U_b)");
    const [table] = await Promise.all([page.waitForEvent("download"), page.click("#csv-analysis")]);
    expect(readFileSync(await table.path(), "utf8")).toMatch(
      /^y \(h\),mean \(U_b\),variance \(U_b²\),skewness,flatness,min \(U_b\),max \(U_b\),count,missing\n/,
    );
    await close(watched);
  });
});
