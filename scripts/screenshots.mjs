// Takes the pictures of docs/screenshots from a running service: `npm run docs:screenshots -- http://127.0.0.1:8080`.
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

const [base = "http://127.0.0.1:8080"] = process.argv.slice(2);
const folder = new URL("../docs/screenshots/", import.meta.url).pathname;
const executablePath = process.env.FIELDPROBE_CHROMIUM ?? "/usr/bin/chromium";
const args = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

const FLOW = "axis=z&at=2.2&time=0.9&probe=2.6015625,3.6,2.2&theme=";
const PATHS =
  "field=speed&axis=z&at=3.1415927&time=1.6&seeds=grid&count=225&dt=0.02&steps=80&launched=true&along=speed&theme=";
const WIDE = { width: 1440, height: 900 };
const SHOTS = [
  { name: "explore", query: `${FLOW}light&overlay=streamlines&nodes=512`, width: 1200, height: 750 },
  { name: "planes", query: `${FLOW}light&layout=three&overlay=streamlines&scene=true`, ...WIDE },
  {
    name: "isosurface",
    query: `${FLOW}light&scene=true&surface=Q&tint=speed&enclosed=4&volume=96&open=particles`,
    ...WIDE,
  },
  { name: "probe", query: `${FLOW}light&contours=2,4,6&open=probe,profile`, ...WIDE },
  { name: "statistics", query: `${FLOW}light&field=wz&map=RdBu&brush=wz,3,9&open=statistics`, ...WIDE },
  { name: "particles", query: `${PATHS}dark`, ...WIDE },
  { name: "narrow", query: `${FLOW}dark&overlay=streamlines`, width: 390, height: 844 },
];

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath, args });
for (const { name, query, width, height } of SHOTS) {
  const page = await browser.newPage({ viewport: { width, height } });
  await page.goto(`${base}/?${query}`);
  await page.waitForSelector("#slice-readout [data-value]");
  if (query.includes("launched")) await page.waitForSelector("#scene[data-longest-segment]");
  if (query.includes("surface=")) await page.waitForSelector("#scene[data-triangles]");
  await page.waitForLoadState("networkidle");
  const path = `${folder}${name}.png`;
  if (query.includes("open=statistics")) await page.waitForSelector("#analysis-plot canvas");
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page.screenshot({ path });
  await page.close();
}
await browser.close();
