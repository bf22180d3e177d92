// Takes the pictures of docs/screenshots from a running service: `npm run docs:screenshots -- http://127.0.0.1:8080`.
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

const [base = "http://127.0.0.1:8080"] = process.argv.slice(2);
const folder = new URL("../docs/screenshots/", import.meta.url).pathname;
const executablePath = process.env.FIELDPROBE_CHROMIUM ?? "/usr/bin/chromium";
const args = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

const WIDE = { width: 1440, height: 900 };
const tab = (name) => (page) => page.click(`#tab-${name}`);
const release = async (page) => {
  await page.click("#tab-Particles");
  await page.click(".panel .primary");
  await page.waitForSelector('.panel button:text-is("CSV")');
};
const SHOTS = [
  { name: "first", link: "isotropic64", ...WIDE },
  { name: "vortices", link: "isotropic64?view.show=3d", ...WIDE },
  { name: "channel", link: "turbulent-channel", ...WIDE },
  { name: "compare", link: "isotropic64?what=Q&view.show=compare&b.method=M1Q4", ...WIDE },
  { name: "point", link: "isotropic64?view.show=slice:z", act: tab("Point"), ...WIDE },
  { name: "statistics", link: "isotropic64?what=omega.z&view.show=slice:z", act: tab("Statistics"), ...WIDE },
  { name: "particles", link: "isotropic64?view.show=3d", act: release, ...WIDE },
  { name: "phone", link: "isotropic64", width: 390, height: 844 },
];

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath, args });
for (const { name, link, act, width, height } of SHOTS) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: "dark" });
  const settled = async () => {
    await page.waitForFunction(() => "stage" in globalThis);
    await page.evaluate(() => globalThis.stage.settled());
  };
  await page.goto(`${base}/view/${link}`);
  await settled();
  if (act !== undefined) {
    await act(page);
    await settled();
  }
  await page.waitForSelector(".track path");
  await page.screenshot({ path: `${folder}${name}.png` });
  await page.close();
}
await browser.close();
