/** The files of the page tell how long they may be kept. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { cachingOf } from "../../../src/server/rest/page-files.js";

it("keeps only what has a hash in its name, wherever the service is installed", () => {
  const folder = join("/srv", "assets", "fieldprobe", "dist", "web");
  expect(cachingOf(join(folder, "index.html"), folder)).toBe("no-cache");
  expect(cachingOf(join(folder, "assets", "index-BCgRqQUP.js"), folder)).toMatch(/immutable/);
});
