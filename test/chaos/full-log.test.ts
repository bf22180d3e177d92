/** A program whose log and output lie on a full disk serves all the same. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { freeAddresses } from "../support/free-addresses.js";
import { scratchFolder } from "../support/scratch.js";

const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
const FULL = "/dev/full";
const reason = existsSync(FULL) ? "" : ` (skipped: no ${FULL})`;

it.skipIf(reason !== "")(`answers with nowhere to write its log${reason}`, async () => {
  const [address] = await freeAddresses(1);
  const port = String(address).split(":")[1] as string;
  const full = openSync(FULL, "w");
  const settings = { PORT: port, STATE: scratchFolder(), EVENTS: "off", WORKERS: "1" };
  const env = Object.entries(settings).map(([name, value]) => [`FIELDPROBE_${name}`, value] as const);
  const child = spawn(process.execPath, [BIN, "serve"], {
    env: { ...process.env, ...Object.fromEntries(env) },
    stdio: ["ignore", full, full],
  });
  closeSync(full);
  const ended = once(child, "exit") as Promise<[number | null]>;
  try {
    const url = `http://127.0.0.1:${port}/api/datasets`;
    await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200), { timeout: 20_000, interval: 50 });
    for (let i = 0; i < 20; i++) expect((await fetch(url)).status).toBe(200);
    expect(child.exitCode).toBeNull();
  } finally {
    child.kill("SIGTERM");
  }
  expect(await ended).toEqual([0, null]);
});
