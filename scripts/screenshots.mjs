// Takes the pictures of docs/screenshots from a running service: `npm run docs:screenshots -- http://127.0.0.1:8080`.
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

const [base = "http://127.0.0.1:8080"] = process.argv.slice(2);
const folder = new URL("../docs/screenshots/", import.meta.url).pathname;
const executablePath = process.env.FIELDPROBE_CHROMIUM ?? "/usr/bin/chromium";
const args = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

const FLOW = "axis=z&at=2.2&time=0.9&probe=2.6015625,3.6,2.2&theme=";
const PATHS =
  "field=speed&axis=z&at=3.1415927&time=0&seeds=grid&count=225&dt=0.02&steps=110&launched=true&record=110&theme=";
const SHOTS = [
  { name: "explore", query: `${FLOW}light`, width: 1280, height: 860 },
  { name: "planes", query: `${FLOW}light&layout=three&overlay=streamlines`, width: 1280, height: 860 },
  {
    name: "isosurface",
    query: `${FLOW}light&layout=three&scene=true&surface=Q&tint=speed&enclosed=4&volume=96`,
    width: 1280,
    height: 980,
    element: ".particles",
  },
  { name: "probe", query: `${FLOW}light`, width: 1280, height: 860, element: ".probe" },
  { name: "particles", query: `${PATHS}dark`, width: 1280, height: 860, element: ".particles" },
  { name: "narrow", query: `${FLOW}dark`, width: 360, height: 1300, at: "figure.slice" },
];

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath, args });
for (const { name, query, width, height, element, at } of SHOTS) {
  const page = await browser.newPage({ viewport: { width, height } });
  await page.goto(`${base}/?${query}`);
  await page.waitForSelector("#slice-readout [data-value]");
  if (query.includes("launched")) await page.waitForSelector("#scene[data-longest-segment]");
  if (query.includes("surface=")) await page.waitForSelector("#scene[data-triangles]");
  await page.waitForLoadState("networkidle");
  const path = `${folder}${name}.png`;
  if (at !== undefined) await page.locator(at).evaluate((target) => target.scrollIntoView());
  if (element !== undefined) {
    // Panels off the screen are laid out when they come near it.
    await page.locator(element).scrollIntoViewIfNeeded();
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  }
  if (element === undefined) await page.screenshot({ path });
  else await page.locator(element).screenshot({ path });
  await page.close();
}
await browser.close();
