/** The service makes remarks when it starts, and leaves nothing behind where it cannot. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { startService, startWarnings } from "../src/main.js";
import { loadConfig } from "../src/shared/config.js";
import { scratchFolder } from "./support/scratch.js";

const folder = scratchFolder();

const remarksOn = (settings: Record<string, string>, datasets: number) =>
  startWarnings(loadConfig(settings, {}), datasets);

it("remarks that there is nothing to serve", () => {
  expect(remarksOn({ DATA: "/srv/runs" }, 0)).toEqual(["there is no dataset in /srv/runs"]);
  expect(remarksOn({}, 1)).toEqual([]);
});

it("remarks that the WSDL names an address that is no one's", () => {
  expect(remarksOn({ HOST: "0.0.0.0" }, 1)).toEqual([expect.stringContaining("FIELDPROBE_BASE_URL")]);
  expect(remarksOn({ HOST: "::" }, 1)).toHaveLength(1);
  expect(remarksOn({ HOST: "0.0.0.0", BASE_URL: "http://fields.example.org" }, 1)).toEqual([]);
  expect(remarksOn({ HOST: "192.0.2.1" }, 1)).toEqual([]);
});

it("remarks that credentials of NATS without servers are of no effect", () => {
  expect(remarksOn({ NATS_CREDENTIALS: "/keys/creds" }, 1)).toEqual([
    expect.stringContaining("FIELDPROBE_NATS is not"),
  ]);
  expect(remarksOn({ NATS_CREDENTIALS: "/keys/creds", NATS: "127.0.0.1:1" }, 1)).toEqual([]);
});

it("closes all that it has opened where its port is taken", async () => {
  const TOKENS = join(folder, "tokens.json");
  writeFileSync(TOKENS, JSON.stringify({ version: 1, tokens: [] }));
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const PORT = String((other.address() as AddressInfo).port);
  const set = vi.spyOn(globalThis, "setInterval");
  const cleared = vi.spyOn(globalThis, "clearInterval");
  const config = loadConfig({ PORT, TOKENS, EVENTS: "off", STATE: folder, WORKERS: "1" }, {});
  await expect(startService(config, pino({ level: "silent" }))).rejects.toThrow("EADDRINUSE");
  const timers = set.mock.results.map(({ value }) => value);
  expect(timers.length).toBeGreaterThan(0);
  expect(cleared.mock.calls.map(([timer]) => timer)).toEqual(expect.arrayContaining(timers));
  vi.restoreAllMocks();
  other.close();
});
