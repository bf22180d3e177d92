/** The picture has the window, and everything else is one key away. */
import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { findChromium } from "./find-chromium.js";
import { coloursAt, readOutOf } from "./pictures.js";
import { expectClean, openBare, settled, useStage } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

describe.skipIf(reason !== "")(`the picture first${reason}`, () => {
  const stage = useStage();
  const open = (query: string, width: number, height: number, more: BrowserContextOptions = {}) =>
    openBare(stage.browser, `${stage.service.url}/${query}`, { viewport: { width, height }, ...more });

  it.each([
    ["isotropic32", 1440, 900, 0.55],
    ["walled", 1440, 900, 0.3],
    ["perforated", 1440, 900, 0.55],
    ["isotropic32", 390, 844, 0.45],
  ] as const)("gives the frame of %s at %i by %i its part of the window", async (dataset, width, height, part) => {
    const watched = await open(`?dataset=${dataset}`, width, height);
    const box = await watched.page.locator(".plane-frame").boundingBox();
    if (box === null) throw new Error("no frame");
    expect((box.width * box.height) / (width * height)).toBeGreaterThanOrEqual(part);
    expect(box.y + box.height).toBeLessThanOrEqual(height);
    expectClean(watched);
    await watched.page.context().close();
  });

  it("folds the controls, finds them by name, lists the keys, plays and opens 3-D by keys", async () => {
    const watched = await open("?dataset=isotropic32&nodes=32", 1440, 900);
    const { page } = watched;
    const width = async () => (await page.locator(".plane-frame").boundingBox())?.width ?? 0;
    const before = await width();
    await page.keyboard.press("[");
    await expect.poll(() => page.locator("form.controls").isVisible()).toBe(false);
    await expect.poll(width).toBeGreaterThan(before + 200);
    for (const keys of ["/", "Control+k"]) {
      await page.keyboard.press(keys);
      await page.fill("#palette-text", "compare");
      await page.keyboard.press("Enter");
      await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("compare");
      expect(await page.locator("form.controls").isVisible()).toBe(true);
      await page.locator("h1").click();
    }
    await page.keyboard.press("/");
    await page.fill("#palette-text", "spectrum");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#panel-statistics");
    const focused = () => page.evaluate(() => document.activeElement?.id);
    await expect.poll(focused).toBe("analysis");
    expect(await page.inputValue("#analysis")).toBe("energy");
    // The line profile leads to the means over planes; who looks for errors finds the comparison.
    await page.click("#tab-profile");
    await page.click("#go-means");
    await expect.poll(() => page.inputValue("#analysis")).toBe("profile");
    await expect.poll(focused).toBe("analysis");
    await page.click("#tab-profile");
    await page.locator("h1").click();
    await page.keyboard.press("/");
    await page.fill("#palette-text", "error");
    expect(await page.locator("#palette li").allTextContents()).toContain("Compare with error");
    await page.keyboard.press("Escape");
    await page.focus("#analysis");
    // In a select, letters choose; the palette opens all the same.
    await page.keyboard.press("/");
    await expect.poll(focused).toBe("palette-text");
    await page.keyboard.press("Escape");
    await page.click("#tab-statistics");
    await page.keyboard.press("?");
    await expect.poll(() => page.locator("#palette").textContent()).toContain("zoom to a box");
    await page.keyboard.press("Escape");
    await page.locator("h1").click();
    await page.keyboard.press(" ");
    await expect.poll(() => page.textContent("#time-play")).toContain("Pause");
    await page.keyboard.press(" ");
    await expect.poll(() => page.textContent("#time-play")).toContain("Play");
    await page.focus("canvas.plane");
    for (const word of ["Pause", "Play"]) {
      await page.keyboard.press(" ");
      await expect.poll(() => page.textContent("#time-play")).toContain(word);
    }
    await page.keyboard.press("3");
    await page.waitForSelector("#scene[data-planes]");
    await settled(page);
    await expect.poll(focused).toBe("scene");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => new URL(page.url()).searchParams.get("camera")).not.toBeNull();
    // The buttons of the picture have no room here, and are found all the same.
    await page.setViewportSize({ width: 1200, height: 700 });
    await expect.poll(() => page.locator("#strongest-vortex").isVisible()).toBe(false);
    await page.keyboard.press("Control+k");
    await page.fill("#palette-text", "vortex");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.textContent("#notice")).toContain("The strongest vortex at t = ");
    await page.focus("#scene");
    await page.keyboard.press("3");
    await page.waitForSelector("#scene", { state: "detached" });
    await expect.poll(focused).toBe("slice");
    expectClean(watched);
    await page.context().close();
  });

  it("closes the settings by Escape and from outside, and pauses for the strongest vortex", async () => {
    const watched = await open("?dataset=isotropic32&nodes=32&speed=2", 1440, 900);
    const { page } = watched;
    const isOpen = () => page.$eval(".settings", (settings) => (settings as HTMLDetailsElement).open);
    for (const leave of [() => page.keyboard.press("Escape"), () => page.locator("h1").click()]) {
      await page.click(".settings summary");
      expect(await isOpen()).toBe(true);
      await leave();
      await expect.poll(isOpen).toBe(false);
    }
    expect(await page.inputValue("#speed")).toBe("2");
    await page.click("#time-play");
    await expect.poll(() => page.textContent("#play-time")).not.toBe("t = 0");
    await page.click("#strongest-vortex");
    await expect.poll(() => page.textContent("#time-play")).toContain("Play");
    const time = ((await page.textContent("#play-time")) ?? "").trim();
    await expect.poll(() => page.textContent("#notice")).toContain(`The strongest vortex at ${time}: `);
    // The read-out is that of the node, also after the pointer was elsewhere; all times are searched by one call.
    const told = async () => /\((.*)\)/.exec((await page.textContent("#notice")) ?? "")?.[1];
    const read = async () => (await readOutOf(page)).slice(0, 3).map((value) => String(Number(value.toPrecision(5))));
    await expect.poll(read).toEqual((await told())?.split(", "));
    await page.hover("#slice", { position: { x: 30, y: 30 } });
    await expect.poll(read).not.toEqual((await told())?.split(", "));
    await page.getByRole("button", { name: "Strongest ever" }).click();
    await expect.poll(() => page.textContent("#notice")).toContain("the highest of all stored times");
    await expect.poll(read).toEqual((await told())?.split(", "));
    const dataset = `${stage.service.url}/api/datasets/isotropic32`;
    const { times } = await (await fetch(dataset)).json();
    const answer = await fetch(`${dataset}/statistics`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ time: times.stored, reduce: [{ extremes: "Q", count: 1 }] }),
    });
    const [{ at, time: ever }] = (await answer.json()).results[0].highest;
    expect((await told())?.split(", ").map(Number)).toEqual(at.map((value: number) => Number(value.toPrecision(5))));
    expect(await page.textContent("#play-time")).toContain(`t = ${Number(ever.toPrecision(5))}`);
    expectClean(watched);
    await page.context().close();
  });

  it.each(["field=ux", "field=ux&compare=time&otherTime=1", "field=vorticity&shape=log&scene=true"])(
    "brings the same colours back by a link of %s, whatever was seen before",
    async (query) => {
      const range = async (page: Page) => {
        await settled(page);
        const ends = await page.$$eval("#range-low, #range-high", (all) =>
          all.map((input) => (input as HTMLInputElement).value),
        );
        return [...ends, await page.textContent(".range-rule")];
      };
      const watched = await open(`?dataset=isotropic32&nodes=32&${query}`, 1440, 900);
      const { page } = watched;
      for (const time of ["1", "0.7"]) {
        await page.fill("#time-number", time);
        await page.press("#time-number", "Enter");
        await settled(page);
      }
      await page.getByRole("button", { name: "Zoom in" }).click();
      await settled(page);
      const shown = await range(page);
      const other = await open(new URL(page.url()).search, 1440, 900);
      expect(await range(other.page)).toEqual(shown);
      for (const one of [watched, other]) {
        expectClean(one);
        await one.page.context().close();
      }
    },
  );

  it("gives fingers large targets where controls have room", async () => {
    const watched = await open("?dataset=isotropic32&nodes=32", 390, 844, { hasTouch: true, isMobile: true });
    const { page } = watched;
    const small = await page.$$eval(".tools button, .tabs button, .player button, .under .buttons button", (all) =>
      all
        .map((button) => ({ name: button.textContent?.trim(), box: button.getBoundingClientRect() }))
        .filter(({ box }) => box.width > 0 && (box.height < 40 || box.width < 35))
        .map(({ name }) => name),
    );
    expect(small).toEqual([]);
    // One row each, as with a mouse; the player has the time line in another.
    expect(await page.$eval(".player", ({ clientHeight }) => clientHeight)).toBeLessThan(100);
    const tall = await page.$$eval("header, .tabs", (all) => all.map((one) => one.clientHeight));
    expect(tall.every((height) => height < 60)).toBe(true);
    expect(await page.evaluate(() => [document.body.scrollWidth, document.body.scrollHeight])).toEqual([390, 844]);
    expectClean(watched);
    await page.context().close();
  });

  it("keeps the vertical of the box under one finger", async () => {
    const camera = "1.2,0.6,1.5";
    const view = `?dataset=isotropic32&nodes=32&scene=true&camera=${camera}`;
    const watched = await open(view, 390, 844, { hasTouch: true, isMobile: true });
    const { page } = watched;
    await page.waitForSelector("#scene[data-planes]");
    await settled(page);
    const box = await page.locator("#scene").boundingBox();
    if (box === null) throw new Error("no 3-D view");
    const input = await page.context().newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", dx = 0, dy = 0) =>
      input.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: type === "touchEnd" ? [] : [{ x: box.x + 60 + dx, y: box.y + box.height / 2 + dy }],
      });
    await touch("touchStart");
    for (let i = 1; i <= 8; i++) await touch("touchMove", 15 * i, 4 * i);
    await touch("touchEnd");
    const seen = () => new URL(page.url()).searchParams.get("camera") ?? "";
    await expect.poll(seen).not.toBe(camera);
    const height = (place: string) => {
      const [x = 0, y = 0, z = 0] = place.split(",").map(Number);
      return y / Math.hypot(x, y, z);
    };
    expect(height(seen())).toBeCloseTo(height(camera), 3);
    expectClean(watched);
    await page.context().close();
  });

  it("names what is read: the pointer while it is there, else the probe, never the corner of a box", async () => {
    const watched = await open("?dataset=isotropic32&field=ux&nodes=32&probe=1.9634955,2.9452431,3.1415927", 1440, 900);
    const { page } = watched;
    const subject = () => page.textContent("#slice-readout .subject");
    const read = async () => (await readOutOf(page)).slice(0, 2);
    await expect.poll(subject).toMatch(/[Pp]robe$/);
    const probed = await read();
    const box = await page.locator("#slice").boundingBox();
    if (box === null) throw new Error("no slice");
    const at = (across: number, down: number) => [box.x + across * box.width, box.y + down * box.height] as const;
    await page.mouse.move(...at(0.1, 0.1));
    await expect.poll(subject).toBe("Pointer");
    await page.mouse.move(box.x + box.width / 2, box.y - 20);
    await expect.poll(subject).toMatch(/[Pp]robe$/);
    expect(await read()).toEqual(probed);
    expect(await page.locator(".cursor").first().isHidden()).toBe(true);
    await page.mouse.move(...at(0.2, 0.3));
    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(...at(0.45, 0.6), { steps: 3 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await expect.poll(() => new URL(page.url()).searchParams.get("window")).not.toBeNull();
    await settled(page);
    const [x = 0, y = 0] = await read();
    expect(await subject()).toMatch(/[Pp]robe$/);
    expect(Math.max(Math.abs(x - 1.9634955), Math.abs(y - 2.9452431))).toBeLessThan(0.1);
    expectClean(watched);
    await page.context().close();
  });

  it("reads the probe across a seam, and surrounds whole periods only", async () => {
    const watched = await open(
      "?dataset=isotropic32&field=ux&nodes=32&window=5.5,8,1,3.5&probe=1,2,3.1415927",
      1440,
      900,
    );
    const { page } = watched;
    const [x = 0, y = 0] = await readOutOf(page);
    expect(Math.max(Math.abs(x - 1), Math.abs(y - 2))).toBeLessThan(0.05);
    await page.goto(`${stage.service.url}/?dataset=isotropic32&nodes=32`);
    await settled(page);
    for (let i = 0; i < 3; i++) await page.click("[aria-label='Zoom in']");
    await settled(page);
    await page.locator("summary", { hasText: "Compare" }).click();
    await page.selectOption("#compare", "method");
    await settled(page);
    await page.waitForSelector("#difference-note");
    await page.setViewportSize({ width: 1440, height: 560 });
    await settled(page);
    // A part of a period has no surroundings: another browser knows none from the same link.
    expect(await page.locator(".surroundings").isVisible()).toBe(false);
    await page.click("text=Whole plane");
    await settled(page);
    await expect.poll(() => page.locator(".surroundings").isVisible()).toBe(true);
    expectClean(watched);
    await page.context().close();
  });

  it("shows one panel or the controls at a time on a phone, below the picture with its bar", async () => {
    const watched = await open("?dataset=isotropic32&nodes=32", 390, 844);
    const { page } = watched;
    const boxOf = async (selector: string) => {
      const box = await page.locator(selector).boundingBox();
      if (box === null) throw new Error(`no ${selector}`);
      return { ...box, end: box.y + box.height };
    };
    expect((await boxOf("header")).height).toBeLessThan(48);
    const [play, speed] = [await boxOf("#time-play"), await boxOf("#speed")];
    expect(Math.abs(play.y + play.height / 2 - speed.y - speed.height / 2)).toBeLessThan(6);
    expect((await boxOf(".tabs")).end).toBeLessThanOrEqual(844);
    const expectSheet = async (sheet: string, picture: string, bar: string) => {
      await page.waitForSelector(sheet);
      await settled(page);
      const top = (await boxOf(sheet)).y;
      for (const above of [picture, bar]) expect((await boxOf(above)).y).toBeLessThan(top);
      expect((await boxOf(picture)).height).toBeGreaterThan(200);
      expect((await boxOf(picture)).end).toBeLessThanOrEqual(top);
      expect((await boxOf(`${bar} >> svg`)).end).toBeLessThanOrEqual(top + 1);
      const page390 = await page.evaluate(() => {
        const { scrollHeight, scrollWidth } = document.documentElement;
        return [scrollWidth, scrollHeight];
      });
      expect(page390).toEqual([390, 844]);
    };
    for (const name of ["statistics", "profile"]) {
      await page.click(`#tab-${name}`);
      await expectSheet(`#panel-${name}`, ".plane-frame", ".slice .colour-bar");
      expect(await page.locator(".drawer > div").count()).toBe(1);
    }
    const heights = [(await boxOf(".drawer")).height];
    await page.click(".drawer .grow-sheet");
    heights.push((await boxOf(".drawer")).height);
    const handle = await boxOf(".drawer .grow-sheet");
    await page.mouse.move(handle.x + 20, handle.y + 20);
    await page.mouse.down();
    await page.mouse.move(handle.x + 20, handle.y + 80, { steps: 4 });
    await page.mouse.up();
    heights.push((await boxOf(".drawer")).height);
    await page.click(".drawer .grow-sheet");
    heights.push((await boxOf(".drawer")).height);
    const [low = 0, high = 0, dragged = 0, again = 0] = heights;
    expect(high).toBeGreaterThan(low + 200);
    expect(dragged).toBeLessThan(high - 40);
    expect(again).toBeCloseTo(low, 0);
    await page.click("#fold");
    await expectSheet("form.controls", ".plane-frame", ".slice .colour-bar");
    expect(await page.locator("#panel-profile").isVisible()).toBe(false);
    await page.click("#tab-particles");
    expect(await page.locator("form.controls").isVisible()).toBe(false);
    await page.click("#open-scene");
    await page.waitForSelector("#scene[data-planes]");
    await expectSheet("#panel-particles", "#scene", ".scene .colour-bar");
    await page.click("text=Hide 3-D, particles");
    await page.waitForSelector("#panel-particles", { state: "detached" });
    expectClean(watched);
    await page.context().close();
  });

  it("leaves title and controls of a phone in sight while it says something, and all buttons of the picture", async () => {
    const watched = await open("?dataset=isotropic32&nodes=32&window=1,3,1,3", 390, 844);
    const { page } = watched;
    const boxOf = async (selector: string) => {
      const box = await page.locator(selector).first().boundingBox();
      if (box === null) throw new Error(`no ${selector}`);
      return { ...box, right: box.x + box.width, end: box.y + box.height };
    };
    await page.click("#copy-link");
    await expect.poll(() => page.textContent("#notice")).toBe("Link copied.");
    const notice = await boxOf("#notice");
    for (const above of ["header", "figcaption", ".plane-frame", ".under", ".colour-bar >> svg"])
      expect((await boxOf(above)).end).toBeLessThanOrEqual(notice.y + 1);
    expect(notice.end).toBeLessThanOrEqual((await boxOf(".time-line")).y + 1);
    // The handle of time has the same room at every time.
    const room = await boxOf("#timeline");
    expect(room.width).toBeGreaterThan(270);
    await page.click("#time-on");
    await expect.poll(() => page.textContent("#play-time")).not.toBe("t = 0");
    expect((await boxOf("#timeline")).width).toBe(room.width);
    const buttons = await page.$$eval(".under .buttons > :not([disabled])", (all) =>
      all.map((button) => button.getBoundingClientRect()).filter(({ width }) => width > 0),
    );
    expect(buttons.length).toBeGreaterThanOrEqual(5);
    for (const { left, right, top } of buttons) {
      expect([left >= 0, right <= 390]).toEqual([true, true]);
      expect(top).toBe(buttons[0]?.top);
    }
    expectClean(watched);
    await page.context().close();
  });

  it("moves no button while it waits for the next time or searches, and says so away from the dataset's title", async () => {
    for (const [width, height] of [
      [390, 844],
      [1440, 900],
    ] as const) {
      const watched = await open("?dataset=isotropic32&nodes=32", width, height);
      const { page } = watched;
      const places = () =>
        page.$$eval(".player > *:not(#play-waits), .under .buttons > *, .tabs > *", (all) =>
          all.map((one) => one.getBoundingClientRect()).map(({ x, y }) => [Math.round(x), Math.round(y)]),
        );
      const before = await places();
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(/slice\?|api\/batch$|statistics$/, async (route) => {
        await held;
        await route.continue();
      });
      await page.click("#time-play");
      await page.waitForSelector("#play-waits");
      const kept = (all: number[][]) => all.map(([, y]) => y);
      expect(kept(await places())).toEqual(kept(before));
      await page.click("#time-play");
      await page.click("#strongest-vortex");
      await page.waitForSelector(".search-slot progress");
      expect(await places()).toEqual(before);
      release();
      await expect.poll(() => page.textContent("#notice")).toContain("The strongest vortex");
      expect(await places()).toEqual(before);
      const [notice, head] = await page.$$eval("#notice, header", (all) =>
        all.map((one) => one.getBoundingClientRect()),
      );
      // The head comes first in the document.
      expect((notice?.bottom ?? 0) <= (head?.top ?? 0)).toBe(true);
      await page.context().close();
    }
  });

  it("marks where a period begins anew inside the part shown, and not at its edges", async () => {
    const watched = await open("?dataset=isotropic32&nodes=32&map=viridis&window=5,8,1,4", 1440, 900);
    const { page } = watched;
    /** Whether there are both light and dark pixels along a line across the picture. */
    const isMarked = async (x: number) => {
      const places = Array.from({ length: 80 }, (_, i) => [x, (i + 0.5) / 80] as const);
      const sums = (await coloursAt(page, "#slice", places)).map(([r = 0, g = 0, b = 0]) => r + g + b);
      return Math.max(...sums) > 660 && Math.min(...sums) < 150;
    };
    const seam = (2 * Math.PI - 5) / 3;
    await expect.poll(() => isMarked(seam)).toBe(true);
    expect(await isMarked(seam - 0.1)).toBe(false);
    await page.goto(`${stage.service.url}/?dataset=isotropic32&nodes=32&map=viridis`);
    await settled(page);
    for (const edge of [0, 0.9999]) expect(await isMarked(edge)).toBe(false);
    expectClean(watched);
    await page.context().close();
  });

  it("draws differences dark in the dark theme, in 3-D too", async () => {
    const watched = await open(
      "?dataset=isotropic32&nodes=32&theme=dark&compare=method&otherMethod=None_Fd4&scene=true",
      1440,
      900,
    );
    const { page } = watched;
    await page.waitForSelector("#scene[data-planes]");
    await settled(page);
    for (const canvas of ["#slice", "#scene"]) {
      const light = await page.$eval(canvas, (element) => {
        const from = element as HTMLCanvasElement;
        const copy = Object.assign(document.createElement("canvas"), { width: from.width, height: from.height });
        const pen = copy.getContext("2d") as CanvasRenderingContext2D;
        pen.drawImage(from, 0, 0);
        const { data } = pen.getImageData(0, 0, copy.width, copy.height);
        return data.filter((byte, i) => i % 4 === 1 && byte > 200).length / (data.length / 4);
      });
      expect([canvas, light < 0.05]).toEqual([canvas, true]);
    }
    expectClean(watched);
    await page.context().close();
  });

  it("names stored times without overlap beside an open panel, and the dataset with its whole title", async () => {
    const watched = await open("?dataset=isotropic32&open=facts", 1280, 800);
    const { page } = watched;
    const ends = await page.$$eval(".timeline text", (all) =>
      all
        .map((text) => text.getBoundingClientRect())
        .filter(({ width }) => width > 0)
        .map(({ left, right }) => [left, right] as const),
    );
    expect(ends.length).toBeGreaterThanOrEqual(2);
    for (const [i, [left]] of ends.slice(1).entries())
      expect(left).toBeGreaterThan((ends[i] as readonly number[])[1] ?? 0);
    const { title } = await (await fetch(`${stage.service.url}/api/datasets/isotropic32`)).json();
    expect(await page.textContent("#dataset-title")).toBe(title.replace("^3", "³"));
    const cut = await page.$$eval("#dataset-title, .lead", (all) =>
      all.map(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => [
        scrollWidth - clientWidth,
        scrollHeight - clientHeight,
      ]),
    );
    expect(cut.flat().every((more) => more <= 1)).toBe(true);
    expectClean(watched);
    await page.context().close();
  });

  it("keeps plane and 3-D view large beside their panel, and the range of all planes as one moves", async () => {
    const watched = await open("?dataset=isotropic32&nodes=32&scene=true&open=particles", 1440, 900);
    const { page } = watched;
    await page.waitForSelector("#scene[data-planes]");
    const widthOf = async (selector: string) => (await page.locator(selector).boundingBox())?.width ?? 0;
    expect(await widthOf(".plane-frame")).toBeGreaterThan(320);
    expect(await widthOf("#scene")).toBeGreaterThan(400);
    const range = () =>
      page.$$eval("#range-low, #range-high", (all) => all.map((input) => Number((input as HTMLInputElement).value)));
    await expect.poll(() => page.textContent(".range-rule")).toBe("range of all times and planes");
    const [low = 0, high = 0] = await range();
    expect(high).toBeGreaterThan(low);
    for (const at of ["1", "5", "2"]) {
      await page.fill("#at-number", at);
      await page.press("#at-number", "Enter");
      await settled(page);
      expect(await range()).toEqual([low, high]);
    }
    expectClean(watched);
    await page.context().close();
  });

  it("opens the group of a comparison that a link has, and says that another dataset ends it", async () => {
    const watched = await open("?dataset=isotropic32&nodes=32&field=ux&compare=time&otherTime=1", 1440, 900);
    const { page } = watched;
    expect(await page.locator("#compare").isVisible()).toBe(true);
    expect(await page.textContent("details:has(#compare) > summary")).toMatch(/^Compare\s+on$/);
    await page.selectOption("#dataset", "walled");
    await settled(page);
    expect(await page.textContent("#notice")).toBe("The comparison is off: it was one of isotropic32.");
    expect(await page.inputValue("#compare")).toBe("none");
    expectClean(watched);
    await page.context().close();
  });

  it("shows the stored times as ticks of the time line, which sets the time", async () => {
    const watched = await open("?dataset=isotropic32&nodes=32", 1440, 900);
    const { page } = watched;
    const { times } = await (await fetch(`${stage.service.url}/api/datasets/isotropic32`)).json();
    expect(await page.locator(".timeline line").count()).toBe(times.stored.length);
    await page.focus("#timeline");
    const time = () => Number(new URL(page.url()).searchParams.get("time"));
    await page.keyboard.press("ArrowRight");
    await expect.poll(time).toBeCloseTo(times.stored[1], 9);
    await page.keyboard.press("Shift+ArrowRight");
    await expect.poll(time).toBeGreaterThan(times.stored[1]);
    expect(time() - times.stored[1]).toBeLessThanOrEqual((2 * (times.last - times.first)) / 1000);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(time).toBeCloseTo(times.stored[1], 9);
    await page.keyboard.press("End");
    await settled(page);
    expect(await page.textContent("#play-time")).toContain("t = ");
    expect(Number(new URL(page.url()).searchParams.get("time"))).toBeCloseTo(times.last, 5);
    expectClean(watched);
    await page.context().close();
  });
});
