/** The number under the picture is that of the quantity shown, whichever quantity was shown before. */
import { describe, expect, it } from "vitest";
import { QUANTITIES } from "../../src/shared/quantities.js";
import { findChromium } from "./find-chromium.js";
import { readOutOf } from "./pictures.js";
import { expectClean, openBare, openPage, settled, useStage } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

const PROBE = [2.6, 3.6, 3.125] as const;

describe.skipIf(reason !== "")(`read-out${reason}`, () => {
  const stage = useStage();

  /** The value of a quantity at the probe: a slice of a single sample, from the service directly. */
  async function apiValue(field: string, query: URLSearchParams): Promise<number> {
    const own = new URLSearchParams(query);
    own.set("field", field);
    own.set("nodes", "1,1");
    own.set(
      "region.origin",
      PROBE.slice(0, 2)
        .map((place) => place - 0.0625)
        .join(","),
    );
    own.set("region.extent", "0.125,0.125");
    const response = await fetch(`${stage.service.url}/api/datasets/isotropic32/slice?${own}`, {
      headers: { accept: "application/octet-stream" },
    });
    if (!response.ok) throw new Error(await response.text());
    const values = new Float32Array(await response.arrayBuffer());
    expect(values).toHaveLength(1);
    return values[0] as number;
  }

  it("is that of the quantity chosen, for all pairs of quantities", { timeout: 600_000 }, async () => {
    const address = `${stage.service.url}/?dataset=isotropic32&time=1&axis=z&at=${PROBE[2]}&probe=${PROBE.join(",")}`;
    const watched = await openBare(stage.browser, address);
    const { page, requests } = watched;
    const choose = async (name: string) => {
      await page.selectOption("#field", name);
      await settled(page);
      return (await readOutOf(page))[3] as number;
    };
    const offered = await page.$$eval("#field option", (all) => all.map((one) => (one as HTMLOptionElement).value));
    const expected = new Map<string, number>();
    for (const name of offered) {
      await choose(name);
      const path = requests.findLast((one) => new URL(one).searchParams.get("field") === name);
      expected.set(name, await apiValue(name, new URL(path ?? "").searchParams));
    }
    const operationOf = (name: string) => QUANTITIES.find((row) => row.name === name)?.operation;
    for (const first of offered) {
      for (const second of offered) {
        if (first === second || operationOf(first) !== operationOf(second)) continue;
        await choose(first);
        const value = await choose(second);
        const right = expected.get(second) as number;
        expect
          .soft(Math.abs(value - right), `${second} after ${first}: ${value}, not ${right}`)
          .toBeLessThan(2e-5 * Math.max(1, Math.abs(right)));
      }
    }
    expectClean(watched);
    await page.context().close();
  });

  it("has a query to copy of the same quantity", { timeout: 120_000 }, async () => {
    const address = `${stage.service.url}/?dataset=isotropic32&time=1&open=probe,export&subject=probe`;
    const watched = await openPage(stage.browser, address);
    const { page } = watched;
    await page.click("#call-box summary");
    for (const { name, operation } of QUANTITIES.filter(({ name: one }) => ["p", "wz", "Q", "uz"].includes(one))) {
      await page.selectOption("#field", name);
      await settled(page);
      expect(await page.textContent("#call"), name).toContain(operation);
    }
    expectClean(watched);
    await page.context().close();
  });
});
