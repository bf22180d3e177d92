/** Compares the drawings of a page with the answers of the service. */
import type { Page } from "playwright-core";
import type { Watched } from "./stage.js";

/** The last slice that the page has asked for, with its geometry and its values from the service. */
export async function lastSlice({ calls }: Watched, field?: string) {
  const url = calls.findLast(
    (address) => address.includes("/slice?") && (field === undefined || address.includes(`field=${field}&`)),
  );
  const response = await fetch(url ?? "");
  const numbers = (name: string) => (response.headers.get(`fieldprobe-${name}`) ?? "").split(",").map(Number);
  const values = new Float32Array(await response.arrayBuffer());
  return { url: url ?? "", shape: numbers("shape"), origin: numbers("origin"), spacing: numbers("spacing"), values };
}

/** Colours of a canvas at places given as fractions from its upper left corner. */
export function coloursAt(
  page: Page,
  selector: string,
  places: readonly (readonly [number, number])[],
): Promise<number[][]> {
  return page.$eval(
    selector,
    (element, wanted) => {
      const canvas = element as HTMLCanvasElement;
      const context = canvas.getContext("2d") as CanvasRenderingContext2D;
      return wanted.map(([x, y]) => [
        ...context.getImageData(
          Math.floor((x as number) * canvas.width),
          Math.floor((y as number) * canvas.height),
          1,
          1,
        ).data,
      ]);
    },
    places,
  );
}

/**
 * Coordinates and value as the read-out says them, once it has caught up with the pointer; "no data" is not a number.
 */
export async function readOutOf(page: Page): Promise<number[]> {
  await page.waitForSelector("#slice-readout:not([aria-busy])");
  return page.$$eval("#slice-readout b", (all) => all.map((part) => Number(part.textContent?.replaceAll("−", "-"))));
}

/** Texts of the ticks beside a picture with their places in pixels of the page. */
export async function ticks(page: Page, selector = ".slice svg.axes text") {
  return page.$$eval(selector, (all) =>
    all.map((text) => {
      const box = text.getBoundingClientRect();
      return { text: text.textContent ?? "", x: box.x + box.width / 2, y: box.y + box.height / 2 };
    }),
  );
}
