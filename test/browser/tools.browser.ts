/** Ruler, flow maps, structures, dye and rides: what they show is what the service answers to the question printed. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  ask,
  close,
  expectClean,
  findingsOf,
  numberIn,
  openPage,
  pictureOf,
  reason,
  settled,
  shared,
  useStage,
} from "./stage.js";

describe.skipIf(reason !== "")(`tools${reason}`, () => {
  const stage = useStage();
  const at = "x=2.6&y=3.6&z=3.125&time=1&view.flow=off";
  const open = (query: string, set = "isotropic32") =>
    openPage(stage.browser, `${stage.service.url}/view/${set}?${query}`);

  it("measures a distance in lengths, nodes and scales of the flow", async () => {
    const { page, faults } = await open(`what=p&${at}&view.show=slice:z&view.window=6`);
    const { scales } = await ask<{ scales: Record<string, number> }>(stage.service, {
      dataset: "isotropic32",
      call: "spectrum",
      time: 1,
    });
    const { height, y: top } = (await page.locator(".stage").boundingBox()) as { height: number; y: number };
    await page.keyboard.press("m");
    await page.mouse.move(200, top + 100);
    await page.mouse.down();
    await page.mouse.move(350, top + 200, { steps: 4 });
    await page.mouse.up();
    await settled(page);
    await page.waitForFunction(() => document.querySelector(".ruler text")?.textContent?.includes("η"));
    const label = (await page.textContent(".ruler text")) as string;
    const [length, nodes, eta] = label.split(" · ").map((one) => Number.parseFloat(one));
    const right = (Math.hypot(150, 100) * 6) / height;
    close(length as number, right);
    expect(Math.abs((nodes as number) - (right * 32) / (2 * Math.PI))).toBeLessThan(0.1);
    expect(Math.abs((eta as number) / (right / (scales.kolmogorov as number)) - 1)).toBeLessThan(0.006);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector(".ruler") === null);
    expectClean({ faults });
  });

  it("shows the structure under a click alone, with its measures", async () => {
    const { page, faults } = await open(`what=Q&${at}&view.show=3d`);
    const box = (await page.locator(".stage").boundingBox()) as { x: number; y: number; width: number; height: number };
    await page.click("#tab-Point");
    for (let i = 0; i < 60 && !(await page.locator("h2:has-text('Structure')").count()); i++) {
      const [u, v] = [0.3 + 0.4 * ((i * 0.618) % 1), 0.3 + 0.4 * ((i * 0.755) % 1)];
      await page.mouse.click(box.x + u * box.width, box.y + v * box.height);
    }
    await page.waitForSelector("h2:has-text(', by volume')");
    await settled(page);
    const { structures } = await ask<{ structures: { volume: number; properties: { Q: { max: number } } }[] }>(
      stage.service,
      await shared(page, "Structures"),
    );
    const label = Number(
      /Structure (\d+) of/.exec((await page.textContent("h2:has-text(', by volume')")) as string)?.[1],
    );
    const own = structures[label - 1] as (typeof structures)[number];
    const row = async (name: string) =>
      numberIn((await page.textContent(`.rows span:text-is("${name}") + span`))?.split(",")[0] ?? "");
    close(await row("Volume"), own.volume);
    close(await row("Peak of Q"), own.properties.Q.max);
    expect(await page.textContent(".title b")).toContain(`structure ${label} of ${structures.length} of Q = `);
    expect(await findingsOf(page)).toEqual([]);
    await page.click(".bar .export");
    await page.click('.sheet .chips button:text-is("Data")');
    const [mesh] = await Promise.all([page.waitForEvent("download"), page.click('.sheet button:text-is("GLB")')]);
    expect(await readFile(await mesh.path(), "latin1")).toContain(`"structure":"structure ${label} of `);
    await page.click('.sheet header button[aria-label="Close"]');
    await page.click('button:text-is("Show all")');
    await page.waitForFunction(() => !document.body.textContent?.includes(", by volume"));
    expectClean({ faults });
  });

  it("follows pasted points by the chosen integrator, and saves their paths", async () => {
    const { page, faults } = await open("time=1&view.flow=off&view.show=3d");
    await page.click("#tab-Particles");
    await page.click('.chips button:text-is("At points")');
    await page.fill('textarea[aria-label="Points"]', "x y z\n1 2 3\n4 5");
    await page.click('.chips button:text-is("Release")');
    await page.waitForSelector('.error:text("Line 3 should have three numbers: 4 5")');
    await page.fill('textarea[aria-label="Points"]', "x y z\n1 2 3\n4,5,6");
    await page.selectOption('select[aria-label="Integrator"]', "heun");
    await page.click('.chips button:text-is("Release")');
    const csv = '.chips button:text-is("CSV")';
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(csv)]);
    const question = { what: "norm(u)", points: "1,2,3;4,5,6", time: "1:2.2", step: "0.02", every: "1" };
    const query = new URLSearchParams({ ...question, integrator: "heun", format: "csv" });
    const right = await (await fetch(`${stage.service.url}/api/datasets/isotropic32/paths?${query}`)).text();
    expect(await readFile(await download.path(), "utf8")).toBe(right);
    await page.click(".bar .export");
    await page.click('.sheet .chips button:text-is("Data")');
    const vtp = 'section:has(h3:text-is("Paths of particles")) button:text-is("VTP")';
    const [lines] = await Promise.all([page.waitForEvent("download"), page.click(vtp)]);
    expect(await readFile(await lines.path(), "latin1")).toContain('NumberOfLines="2"');
    expectClean({ faults });
  });

  it("pours dye along a stroke and rides a particle through time", async () => {
    const { page, faults } = await open(`what=p&${at}&view.show=slice:z`);
    await page.click("#tab-Particles");
    await page.click('button:text-is("Draw with dye")');
    await page.mouse.move(200, 200);
    await page.mouse.down();
    await page.mouse.move(400, 300, { steps: 6 });
    await page.mouse.up();
    await page.waitForSelector("canvas.dye");
    await settled(page);
    const question = await shared(page, "Dye forwards");
    expect((question.points as number[][]).length).toBe(2000);
    expect((question.points as number[][]).every(([, , z]) => Math.abs((z as number) - 3.125) < 0.2)).toBe(true);
    const { data } = await pictureOf(page, "canvas.dye");
    const inked = data.filter((one, i) => i % 4 === 3 && one > 0).length;
    expect(inked).toBeGreaterThan(2000);
    expect(await page.textContent(".title small")).toBe("dye from t = 1");
    await page.click('button:text-is("Wash away")');
    await page.click('button:text-is("Ride the particle at the crosshair")');
    await page.waitForSelector('.card[aria-label="p along the path of the particle"] svg');
    await page.click(".stage", { position: { x: 5, y: 5 }, trial: true });
    const path = await shared(page, "Particle that is ridden");
    await page.locator(".track input").focus();
    await page.keyboard.press("ArrowRight");
    await settled(page);
    const link = new URL(page.url()).searchParams;
    const place = ["x", "y", "z"].map((name) => Number(link.get(name)));
    const time = Number(link.get("time"));
    const { rows } = await ask<{ rows: number[][] }>(stage.service, path);
    const row = rows.find((one) => Math.abs((one[1] as number) - time) < 1e-6) as number[];
    for (let a = 0; a < 3; a++) close(place[a] as number, (row[a + 2] as number) % (2 * Math.PI));
    expectClean({ faults });
  });
});
