/** The commands of docs/jobs.md run as printed, one after another, against a service. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scratchFolder } from "../support/scratch.js";
import { typeCommands } from "../support/typed-commands.js";

const folder = scratchFolder();

it("docs/jobs.md runs as printed", { timeout: 60_000 }, async (context) => {
  const typed = await typeCommands("docs/jobs.md", folder);
  if (typed === null) return context.skip("curl is missing");
  const { stdout } = typed;
  expect(stdout).toContain("x,y,z,u.x,u.y,u.z\r\n");
  expect(stdout).toContain('"received":10,');
  expect(stdout).toContain('"complete":true,"received":24,"bytes":24,"points":2');
  expect(stdout).toContain("POST /api/datasets/isotropic32/paths");
  expect(stdout.match(/"state":"done"/g)?.length).toBeGreaterThanOrEqual(2);
  expect(readFileSync(join(folder, "pressure.npy")).length).toBe(132);
});
