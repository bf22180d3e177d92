/** A Chromium to test with, or why there is none. */
import { existsSync } from "node:fs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Path of the browser: FIELDPROBE_CHROMIUM where it is set, else where Debian and others put it. */
export function findChromium(): string | undefined {
  const wanted = process.env.FIELDPROBE_CHROMIUM;
  return [...(wanted === undefined ? [] : [wanted]), ...PLACES].find((path) => existsSync(path));
}
