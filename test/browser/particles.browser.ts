/**
 * Particles in 3-D: paths that stay in the box, a time to play, contexts that are given back, and life without WebGL.
 */
import { describe, expect, it } from "vitest";
import { findChromium } from "./find-chromium.js";
import { coloursAt } from "./pictures.js";
import { askService, expectClean, launch, openPage, settled, useStage } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

describe.skipIf(reason !== "")(`particles${reason}`, () => {
  const stage = useStage();

  it.each(["GetPosition", "GetPositionParticleControl", "GetPositionInertialParticle"])(
    "shows the paths of %s, stepped and scrubbed, none across the box",
    async (tracker) => {
      const watched = await openPage(
        stage.browser,
        `${stage.service.url}/?tracker=${tracker}&count=100&axis=x&dt=0.02&scene=true`,
      );
      const { page, requests } = watched;
      await page.click("text=Launch");
      await page.waitForSelector("#scene[data-longest-segment]");
      expect(requests.some((url) => /assets\/scene-/.test(url))).toBe(true);
      const longest = Number(await page.getAttribute("#scene", "data-longest-segment"));
      expect(longest).toBeGreaterThan(0);
      expect(longest).toBeLessThanOrEqual(0.5);
      const time = async () => Number(new URL(page.url()).searchParams.get("time") ?? 0);
      await expect.poll(time).toBeGreaterThan(2.1);
      const end = await time();
      await page.click("#time-back");
      await expect.poll(time).toBeCloseTo(end - 0.02, 5);
      await page.fill("#time-number", "0.1");
      await page.press("#time-number", "Enter");
      await page.click("#time-on");
      await expect.poll(time).toBeCloseTo(0.12, 5);
      await settled(page);
      expect(await page.textContent("#scene-note")).toContain("Planes at t = 0.12. Particles at t = 0.12.");
      await page.click("#particles-table summary");
      await page.waitForSelector("#particles-table tbody tr");
      const rows = await page.$$eval("#particles-table tbody tr", (all) => all.length);
      expect(rows).toBe(50);
      expectClean(watched);
      await page.context().close();
    },
  );

  it("releases particles one after another by an integrator, and colours their paths by a quantity", async () => {
    const watched = await openPage(stage.browser, `${stage.service.url}/?dataset=isotropic32&count=16&dt=0.05&steps=8`);
    const { page, requests } = watched;
    await page.click("text=3-D");
    await page.waitForSelector("#integrator");
    await page.selectOption("#integrator", "dopri5");
    await page.selectOption("#along", "speed");
    await page.fill("#release", "0.4");
    await page.click("text=Launch");
    await page.waitForSelector("#scene[data-longest-segment]");
    expect(requests.find((url) => url.includes("/trajectories?"))).toMatch(
      /integrator=dopri5&columns=xyzt&with=norm%28u%29/,
    );
    const bars = () => page.$$eval(".scene .bar-name", (all) => all.map((bar) => bar.textContent ?? ""));
    await expect.poll(bars).toContainEqual(expect.stringMatching(/^Particles: Speed \|u\|/));
    await expect.poll(() => page.textContent("#record-time")).toBe("Particles at t = 0.8");
    expect(new URL(page.url()).searchParams.get("release")).toBe("0.4");
    await page.fill("#time-number", "0.43");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.textContent("#record-time")).toBe("Particles at t = 0.4; the view is at t = 0.43");
    expectClean(watched);
    await page.context().close();
  });

  it("shows the stretching of the flow by one call, with its own title, interval, bar and read-out", async () => {
    const view = "dataset=isotropic32&dt=0.1&steps=5&nodes=32&overlay=ftle";
    const watched = await openPage(stage.browser, `${stage.service.url}/?${view}`);
    const { page, calls } = watched;
    const title = () => page.textContent("#slice-title span");
    await expect.poll(title).toBe("Finite-time Lyapunov exponent at z = 3.1416, t = 0 to 0.5");
    expect(await page.$$eval(".slice .bar-name", (names) => names.map((name) => name.textContent))).toEqual([
      "Finite-time Lyapunov exponent",
    ]);
    expect(await page.textContent("#slice-readout .value")).toMatch(/^\s*Finite-time Lyapunov exponent \d/);
    expect(calls.filter((url) => url.endsWith("/flow_map"))).toHaveLength(1);
    const colours = () =>
      page.$eval("#slice", (canvas) => {
        const { width, height } = canvas as HTMLCanvasElement;
        const pixels = (canvas as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
        return new Set(Array.from({ length: pixels.length / 4 }, (_, i) => pixels.slice(4 * i, 4 * i + 3).join())).size;
      });
    expect(await colours()).toBeGreaterThan(50);
    await page.selectOption("#overlay", "none");
    await expect.poll(title).toBe("Vorticity magnitude at z = 3.1416, t = 0");
    expectClean(watched);
    await page.context().close();
  });

  it("plays the times of the records with everything else, and slowly for people who asked for less motion", async () => {
    for (const reducedMotion of ["no-preference", "reduce"] as const) {
      const watched = await openPage(stage.browser, `${stage.service.url}/?launched=true&count=4&steps=3&nodes=32`, {
        reducedMotion,
      });
      const { page } = watched;
      await page.waitForSelector("#scene[data-longest-segment]");
      expect(await page.inputValue("#speed")).toBe(reducedMotion === "reduce" ? "1" : "10");
      expect(await page.textContent("#scene-note")).toContain("Planes at t = 0. Particles at t = 0.");
      await page.click("#loop");
      await page.click("#time-play");
      if (reducedMotion === "reduce")
        expect(await page.$eval("button", (button) => getComputedStyle(button).transitionDuration)).toBe("0s");
      const note = () => page.textContent("#scene-note");
      await expect.poll(note, { timeout: 20_000 }).toContain("Planes at t = 0.06. Particles at t = 0.06.");
      await expect.poll(() => page.textContent("#time-play")).toContain("Play");
      expectClean(watched);
      await page.context().close();
    }
  });

  it("starts particles and streamlines where one points", async () => {
    const watched = await openPage(
      stage.browser,
      `${stage.service.url}/?dataset=isotropic32&steps=20&nodes=32&time=0.8`,
    );
    const { page, requests } = watched;
    const box = await page.locator("#slice").boundingBox();
    if (box === null) throw new Error("no slice");
    const paint = () => page.$eval("#slice", (canvas) => (canvas as HTMLCanvasElement).toDataURL().length);
    const plain = await paint();
    await page.selectOption("#click", "lines");
    await page.mouse.click(box.x + 0.3 * box.width, box.y + 0.3 * box.height);
    await settled(page);
    expect(new URL(page.url()).searchParams.get("overlay")).toBe("lines");
    expect(await paint()).toBeGreaterThan(plain);
    await page.selectOption("#click", "particles");
    await page.mouse.click(box.x + 0.6 * box.width, box.y + 0.6 * box.height);
    await settled(page);
    expect(requests.filter((url) => url.includes("/trajectories?"))).toHaveLength(1);
    const query = () => new URL(page.url()).searchParams;
    expect(query().get("places")?.split(",")).toHaveLength(6);
    expect(query().get("start")).toBe("0.8");
    expect(await page.textContent(".slice .gestures")).toContain("Click: particle, released at t = 0.8 ·");
    expect(await page.textContent("#record-time")).toBe("Particles at t = 0.8");
    expect(await page.locator("#scene").count()).toBe(0);
    await page.click("#clear-places");
    expect(new URL(page.url()).searchParams.get("places")).toBeNull();
    expectClean(watched);
    await page.context().close();
  });

  it("launches at the time shown, in the plane alone, with particles in the colours of their bar", async () => {
    const probe = [2, 3, 4];
    const watched = await openPage(
      stage.browser,
      `${stage.service.url}/?dataset=isotropic32&axis=z&at=4&probe=${probe}&seeds=point&dt=0.1&steps=10&along=speed&time=0.5`,
    );
    const { page } = watched;
    await page.click("text=Launch");
    await page.waitForSelector("#forget-particles");
    await settled(page);
    expect(new URL(page.url()).searchParams.get("time")).toBe("0.5");
    expect(await page.locator("#scene").count()).toBe(0);
    await page.click("#particles-table summary");
    await page.waitForSelector("#particles-table tbody tr");
    const cells = await page.$$eval("#particles-table tbody td", (all) => all.map((cell) => Number(cell.textContent)));
    const [x = 0, y = 0, z = 0] = cells.slice(-3);
    expect(Math.hypot(x - 2, y - 3, z - 4)).toBeGreaterThan(0.05);
    const parameters = { time: 0.5, spatialInterpolation: "Lag6", temporalInterpolation: "PCHIP" };
    const speed = Math.hypot(...(await askService(stage.service, "isotropic32", "GetVelocity", parameters, [x, y, z])));
    const bar = page.locator(".slice .colour-bar", { hasText: "Particles: Speed" });
    const ends = await bar.locator("text").allTextContents();
    const [low, high] = [Number(ends[0]), Number(ends.at(-1))];
    expect(speed).toBeGreaterThanOrEqual(low * 0.99);
    expect(speed).toBeLessThanOrEqual(high * 1.01);
    const [red = 0, green = 0, blue = 0] = await bar.locator("image").evaluate(
      async (element, part) => {
        const image = new Image();
        image.src = element.getAttribute("href") ?? "";
        await image.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [image.width, 1];
        const context = canvas.getContext("2d") as CanvasRenderingContext2D;
        context.drawImage(image, 0, 0);
        return [...context.getImageData(Math.round(part * (image.width - 1)), 0, 1, 1).data];
      },
      (speed - low) / (high - low),
    );
    const [drawn = []] = await coloursAt(page, "#slice", [[x / (2 * Math.PI), 1 - y / (2 * Math.PI)]]);
    expect(Math.hypot(red - (drawn[0] ?? 0), green - (drawn[1] ?? 0), blue - (drawn[2] ?? 0))).toBeLessThan(20);
    expectClean(watched);
    await page.context().close();
  });

  it("draws every particle on a plane, however many there are, and says how many steps are made", async () => {
    const watched = await openPage(
      stage.browser,
      `${stage.service.url}/?dataset=isotropic32&nodes=32&map=viridis&seeds=grid&count=625&dt=0.02&steps=1&start=2.17`,
    );
    const { page } = watched;
    // The middles of a grid of 25 by 25, in its uppermost row.
    const row = Array.from({ length: 25 }, (_, i) => [(i + 0.5) / 25, 0.5 / 25] as const);
    await page.fill("#time-number", "2.2");
    await page.press("#time-number", "Enter");
    await settled(page);
    const before = await coloursAt(page, "#slice", row);
    await page.fill("#steps", "500");
    await page.press("#steps", "Enter");
    expect(await page.textContent("#steps-made")).toBe("Particles make 1 of the 500 steps: the data end at t = 2.2.");
    await page.click("text=Launch");
    await page.waitForSelector("#forget-particles");
    await settled(page);
    const away = (await coloursAt(page, "#slice", row)).filter((colour, i) => {
      return Math.hypot(...[0, 1, 2].map((c) => (colour[c] ?? 0) - (before[i]?.[c] ?? 0))) > 40;
    });
    expect(away.length).toBeGreaterThan(20);
    expectClean(watched);
    await page.context().close();
  });

  it("draws heads whole on a plane and paths as bands, and takes back what it said of a time that is over", async () => {
    const watched = await openPage(
      stage.browser,
      `${stage.service.url}/?dataset=isotropic32&nodes=32&theme=light&scene=true&map=viridis&seeds=point&dt=0.1&steps=16&camera=1.2,0.6,1.6`,
    );
    const { page } = watched;
    await page.click("text=Launch");
    await page.waitForSelector("#scene[data-longest-segment]");
    await expect.poll(() => page.textContent("#notice")).toContain("the view is now at t = ");
    /** Pixels in the colour of the only particle, and the diagonal of the box around them. */
    const drawn = () =>
      page.$eval("#scene", (element) => {
        const from = element as HTMLCanvasElement;
        const copy = Object.assign(document.createElement("canvas"), { width: from.width, height: from.height });
        const pen = copy.getContext("2d") as CanvasRenderingContext2D;
        pen.drawImage(from, 0, 0);
        const { data } = pen.getImageData(0, 0, copy.width, copy.height);
        const found = Array.from({ length: data.length / 4 }, (_, i) => i).filter((i) => {
          const [r = 0, g = 0, b = 0] = data.slice(4 * i, 4 * i + 3);
          return r > 1.8 * g && r > 1.8 * b && r > 100;
        });
        const [x, y] = [found.map((i) => i % copy.width), found.map((i) => Math.floor(i / copy.width))];
        const reach = (list: number[]) => Math.max(...list) - Math.min(...list);
        return { pixels: found.length, length: Math.hypot(reach(x), reach(y)) };
      });
    const whole = await drawn();
    expect(whole.pixels).toBeGreaterThan(1.5 * whole.length);
    await page.fill("#time-number", "0");
    await page.press("#time-number", "Enter");
    await settled(page);
    expect(await page.textContent("#notice")).toBe("");
    // The particle starts on the plane: a disc of 8 pixels inside its rim, not the half of it.
    const { pixels } = await drawn();
    expect(pixels).toBeGreaterThan(0.75 * Math.PI * 4 ** 2);
    expectClean(watched);
    await page.context().close();
  });

  it("leaves at most one live context after 20 openings", async () => {
    const watched = await openPage(stage.browser, `${stage.service.url}/?count=4&steps=5`);
    const { page } = watched;
    await page.evaluate(() => {
      const kept: WebGL2RenderingContext[] = [];
      Object.assign(globalThis, { liveContexts: () => kept.filter((context) => !context.isContextLost()).length });
      const original = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string, ...rest: unknown[]) {
        const context = original.call(this, kind as "webgl2", ...(rest as []));
        if (context instanceof WebGL2RenderingContext && !kept.includes(context)) kept.push(context);
        return context;
      } as typeof original;
    });
    await page.click("text=Launch");
    await page.waitForSelector("#forget-particles");
    const live = () => page.evaluate(() => (globalThis as unknown as { liveContexts: () => number }).liveContexts());
    for (let opening = 0; opening < 20; opening++) {
      await page.click("#toggle-scene");
      await page.waitForSelector("#scene[data-longest-segment]");
      expect(await live()).toBe(1);
      await page.click("#close-scene");
      await page.waitForSelector("#scene", { state: "detached" });
    }
    expect(await live()).toBeLessThanOrEqual(1);
    expectClean(watched);
    await page.context().close();
  });

  it("shows the slice in the box the way the slice shows it", async () => {
    const query =
      "axis=z&at=3&field=ux&map=viridis&count=1&seeds=point&probe=0,0,0&steps=1&launched=true&camera=0,0,1.9&theme=light";
    const watched = await openPage(stage.browser, `${stage.service.url}/?dataset=lopsided&${query}`, {
      viewport: { width: 900, height: 900 },
    });
    const { page } = watched;
    await page.waitForSelector("#scene[data-longest-segment]");
    await settled(page);
    /** Brightness of green, which rises with the value in viridis, in the four quarters of the middle of a picture. */
    const quarters = async (selector: string, part: readonly [number, number]) => {
      const bytes = await page.locator(selector).screenshot();
      return page.evaluate(
        async ([encoded, width, height]) => {
          const image = new Image();
          image.src = `data:image/png;base64,${encoded}`;
          await image.decode();
          const canvas = document.createElement("canvas");
          canvas.width = image.width;
          canvas.height = image.height;
          const context = canvas.getContext("2d") as CanvasRenderingContext2D;
          context.drawImage(image, 0, 0);
          const [w, h] = [(width as number) * image.width, (height as number) * image.height];
          return [
            [-1, -1],
            [0, -1],
            [-1, 0],
            [0, 0],
          ].map(([x = 0, y = 0]) => {
            const { data } = context.getImageData(image.width / 2 + x * w, image.height / 2 + y * h, w, h);
            let sum = 0;
            for (let i = 1; i < data.length; i += 4) sum += data[i] as number;
            return sum / (data.length / 4);
          });
        },
        [bytes.toString("base64"), ...part] as const,
      );
    };
    const order = (values: readonly number[]) =>
      [...values.keys()].sort((a, b) => (values[a] as number) - (values[b] as number));
    const slice = await quarters("#slice", [0.4, 0.4]);
    const scene = await quarters("#scene", [0.12, 0.2]);
    expect(new Set(slice.map(Math.round)).size).toBe(4);
    expect(order(scene)).toEqual(order(slice));
    expectClean(watched);
    await page.context().close();
  });

  it("works without WebGL, with the positions in a table", async () => {
    const plain = await launch(false);
    const watched = await openPage(plain, `${stage.service.url}/?count=4&steps=5&scene=true`);
    const { page } = watched;
    await page.click("text=Launch");
    await page.waitForSelector("#no-scene");
    expect(await page.textContent("#no-scene")).toMatch(/cannot draw 3-D/);
    await page.click("#particles-table summary");
    await page.waitForSelector("#particles-table tbody tr");
    await page.focus("#slice");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await settled(page);
    expect(watched.faults.violations).toEqual([]);
    expect(watched.faults.errors.filter((text) => !/WebGL/.test(text))).toEqual([]);
    await plain.close();
  });
});
