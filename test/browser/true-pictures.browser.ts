/** What pictures claim is so, on four kinds of data: ranges of all times, scales of arrows, nodes, levels and marks. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { DatasetView, finite, KINDS } from "./dataset-view.js";
import { findChromium } from "./find-chromium.js";
import { expectClean, settled, useStage } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

/** Holds a range against the extremes of nodes: round values around them, less than a tenth of them apart. */
function expectRound([low = 0, high = 0]: readonly number[], min: number, max: number): void {
  const most = 0.1 * (max - min);
  expect([low <= min, low > min - most, high >= max, high < max + most]).toEqual([true, true, true, true]);
}

describe.skipIf(reason !== "")(`true pictures${reason}`, () => {
  const stage = useStage();

  describe.each(KINDS)("$name", (kind) => {
    let view: DatasetView;
    beforeAll(async () => {
      view = await DatasetView.open(stage, kind);
    });
    afterEach(() => expectClean(view.watched));
    afterAll(() => view.close());

    /** The statistics of stored nodes, from the service directly. */
    async function statistics(body: object) {
      const response = await fetch(`${stage.service.url}/api/datasets/${kind.name}/statistics`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()) as { results: Record<string, never>[] };
    }

    /** Colours of the picture, block by block, as means. */
    const blocks = () =>
      view.page.$eval("#slice", (element) => {
        const canvas = element as HTMLCanvasElement;
        const { data } = (canvas.getContext("2d") as CanvasRenderingContext2D).getImageData(
          0,
          0,
          canvas.width,
          canvas.height,
        );
        const side = 8;
        const sums = Array.from({ length: side * side }, () => [0, 0, 0, 0]);
        for (let y = 0; y < canvas.height; y++) {
          for (let x = 0; x < canvas.width; x++) {
            const sum = sums[
              Math.floor((y * side) / canvas.height) * side + Math.floor((x * side) / canvas.width)
            ] as number[];
            for (let c = 0; c < 3; c++) sum[c] = (sum[c] as number) + (data[4 * (y * canvas.width + x) + c] as number);
            sum[3] = (sum[3] as number) + 1;
          }
        }
        return sums.map((sum) => sum.slice(0, 3).map((part) => part / (sum[3] as number)));
      });

    it("keeps the range of the nodes of all times while it plays, asked for once", async () => {
      const { page, watched, facts } = view;
      const before = watched.requests.length;
      await view.show({ field: "ux", scaling: "auto", map: "auto" });
      await expect.poll(() => view.text(".range-rule")).toBe("range of all times");
      await page.selectOption("#speed", "30");
      await page.click("#time-play");
      const ends = async () => [await page.inputValue("#range-low"), await page.inputValue("#range-high")].map(Number);
      const first = await ends();
      const titles = new Set<string>();
      await expect
        .poll(async () => titles.add(await view.text("#slice-title")).size, { interval: 20, timeout: 20_000 })
        .toBeGreaterThanOrEqual(facts.times.stored.length);
      expect(await ends()).toEqual(first);
      await page.click("#time-play");
      await settled(page);
      const asked = watched.requests.slice(before).filter((url) => url.endsWith("/statistics"));
      // The first view of a dataset may have asked for it already.
      expect(asked.length).toBeLessThanOrEqual(1);
      const [, , z] = facts.axes;
      const places = z.coordinates ?? Array.from({ length: z.nodes }, (_, i) => z.first + i * z.spacing);
      const all = await statistics({ times: facts.times.stored, over: ["x", "y", "t"], reduce: [{ moments: "ux" }] });
      const { min, max } = all.results[0] as unknown as { min: (number | null)[]; max: (number | null)[] };
      /** The extremes of the planes of nodes on both sides of a place. */
      const around = (place: number): [number, number] => {
        const from = places.findLast((node) => node <= place) ?? 0;
        const to = places.find((node) => node >= place) ?? from;
        const near = (values: (number | null)[]) =>
          places.flatMap((node, i) => (node >= from && node <= to ? (values[i] ?? []) : []));
        return [Math.min(...near(min)), Math.max(...near(max))];
      };
      expectRound(first, ...around(kind.flat ? z.first : Number(await page.inputValue("#at-number"))));
      if (kind.flat) return;
      // Another plane has the range of all its times too.
      const at = await page.inputValue("#at-number");
      await page.fill("#at-number", String(facts.axes[2].first + 0.3 * facts.axes[2].length));
      await page.keyboard.press("Enter");
      await settled(page);
      expect(await page.inputValue("#at-number")).not.toBe(at);
      await expect.poll(() => view.text(".range-rule")).toBe("range of all times");
      // That brought those of every plane across the axis: no further one is asked for.
      const known = watched.requests.length;
      await page.focus("#at");
      for (let i = 0; i < 5; i++) await page.keyboard.press("PageUp");
      await settled(page);
      await expect.poll(() => view.text(".range-rule")).toBe("range of all times");
      expect(watched.requests.slice(known).filter((url) => url.endsWith("/statistics"))).toEqual([]);
      expectRound(await ends(), ...around(Number(await page.inputValue("#at-number"))));
    });

    it("frames the linear part of a logarithm of both signs, and takes the decades that positive values have", async () => {
      await view.show({ field: "ux", shape: "log", map: "auto" });
      const values = finite((await view.slice({ field: "ux" })).values);
      const signed = values.some((value) => value < 0) && values.some((value) => value > 0);
      expect(await view.page.locator(".slice .linear-part").count()).toBe(signed ? 1 : 0);
      if (signed) expect(await view.text("#linear-part")).toMatch(/^linear between ±\d/);
      await view.show({ field: "speed", shape: "log" });
      expect(await view.page.locator(".slice .linear-part").count()).toBe(0);
    });

    it("tells the speed of arrows, and lays streaks that leave the colours of the bar on average", async () => {
      await view.show({ field: "p", overlay: "arrows" });
      const [, speed = "0"] = /([\d.e-]+)/.exec(await view.text(".arrow-scale")) ?? [];
      expect(Number(speed)).toBeGreaterThan(0);
      const length = Number(await view.page.getAttribute(".arrow-scale svg", "width"));
      expect(length).toBeGreaterThan(8);
      await view.show({ field: "p" });
      const plain = await blocks();
      await view.show({ field: "p", overlay: "streamlines" });
      const streaked = await blocks();
      const away = plain.map((colour, i) =>
        Math.max(...colour.map((part, c) => Math.abs(part - (streaked[i]?.[c] ?? 0)))),
      );
      expect(away.sort((a, b) => a - b)[Math.floor(0.9 * away.length)]).toBeLessThan(20);
      expect(streaked).not.toEqual(plain);
    });

    it("shows the nodes themselves, on stretched axes too, with the axes of the plane told by a cross", async () => {
      const { page, facts } = view;
      await view.show({ values: "None", nodes: "grid", field: "ux" });
      const box = await view.boxOf("#slice");
      const [x, y] = facts.axes;
      const placesOf = ({ coordinates, nodes, first, spacing }: typeof x) =>
        coordinates ?? Array.from({ length: nodes }, (_, i) => first + i * spacing);
      for (const [i, j] of [
        [3, 4],
        [6, 1],
      ] as const) {
        const [across = 0, up = 0] = [placesOf(x)[i], placesOf(y)[j]];
        const [px, py] = [(across - x.first) / x.length, 1 - (up - y.first) / y.length];
        await page.mouse.move(box.x + px * box.width, box.y + py * box.height);
        const { point, value } = await view.readOut();
        expect([point[0], point[1]].map((part, k) => Math.abs(part - ([across, up][k] as number)) < 1e-5)).toEqual([
          true,
          true,
        ]);
        const [wanted] = await view.ask("GetVelocity", [point[0], point[1], view.middle[2]], {
          spatialInterpolation: "None",
        });
        if (!Number.isNaN(value)) expect(Math.fround(value)).toBe(wanted);
      }
      expect(await view.text("#slice-title")).toContain("nodes");
      if (kind.flat) return;
      await view.show({ axis: "x" });
      const labels = await page.$$eval(".slice svg.axes text", (all) => all.slice(-3).map((text) => text.textContent));
      expect(labels).toEqual(["y", "z", "⊙x"]);
      await view.show({ axis: "y" });
      expect(await page.$$eval(".slice svg.axes text", (all) => all.at(-1)?.textContent)).toBe("⊗y");
    });

    it("draws an isosurface at a value, also over the rms, and keeps it in the link", async () => {
      if (kind.flat) return;
      const { page } = view;
      await view.show({ scene: "true", surface: "speed", volume: 32 });
      await expect.poll(() => view.text("#scene-note"), { timeout: 20_000 }).toContain("rms)");
      const rms = Number(await page.inputValue("#level")) / Number(await page.inputValue("#level-rms"));
      await page.fill("#level-rms", "1.2");
      await page.press("#level-rms", "Enter");
      await expect.poll(() => view.text("#scene-note"), { timeout: 20_000 }).toContain("(1.2 rms)");
      expect(Number(view.query("level"))).toBeCloseTo(1.2 * rms, 2);
      const url = view.watched.calls.findLast((address) => address.includes("/volume?")) ?? "";
      const values = finite(new Float32Array(await (await fetch(url)).arrayBuffer()));
      const mean = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
      expect(Math.abs(rms / mean - 1)).toBeLessThan(2e-3);
      const above = (100 * values.filter((value) => value > 1.2 * mean).length) / values.length;
      const [, said = "-9"] = /([\d.]+) % of the volume/.exec(await view.text("#scene-note")) ?? [];
      expect(Math.abs(Number(said) - above)).toBeLessThan(1);
    });

    it("marks the nodes of a part of a chart in the picture", async () => {
      const { page } = view;
      await view.show({ field: "ux", at: view.middle[2] });
      await page.click("#tab-statistics");
      await page.waitForSelector("#analysis-plot .u-over");
      await page.selectOption("#analysis-part", "plane");
      await settled(page);
      const body = JSON.parse(((await page.textContent("#analysis-call")) ?? "").split("\n")[1] ?? "{}");
      const { edges, counts } = (await statistics(body)).results[1] as unknown as { edges: number[]; counts: number[] };
      // With one end typed, the other one leaves no node out.
      const ends = await page.$$eval("#brush-low, #brush-high", (all) =>
        all.map((one) => Number((one as HTMLInputElement).value)),
      );
      expect(ends[0]).toBeLessThanOrEqual(edges[0] as number);
      expect(ends[1]).toBeGreaterThanOrEqual(edges.at(-1) as number);
      const plot = page.locator("#analysis-plot .u-over");
      await plot.scrollIntoViewIfNeeded();
      const box = await plot.boundingBox();
      if (box === null) throw new Error("no plot");
      await page.mouse.move(box.x + 0.3 * box.width, box.y + 0.5 * box.height);
      await page.mouse.down();
      await page.mouse.move(box.x + 0.7 * box.width, box.y + 0.5 * box.height, { steps: 4 });
      await page.mouse.up();
      await settled(page);
      const [, low = 0, high = 0] = (view.query("brush") ?? "").split(",").map(Number);
      const [, marked = "-9", among = "0"] = /^(\d+) of (\d+) nodes/.exec(await view.text("#marked-nodes")) ?? [];
      const inside = (from: number, to: number) =>
        counts.reduce(
          (sum, count, i) => sum + ((edges[i] as number) >= from && (edges[i + 1] as number) <= to ? count : 0),
          0,
        );
      const width = (edges[1] as number) - (edges[0] as number);
      expect(Number(marked)).toBeGreaterThanOrEqual(inside(low, high));
      expect(Number(marked)).toBeLessThanOrEqual(inside(low - width, high + width));
      expect(Number(among)).toBeGreaterThanOrEqual(counts.reduce((sum, count) => sum + count, 0));
      await page.click("#clear-brush");
      expect(view.query("brush")).toBeNull();
    });
  });
});
