/** The service makes remarks when it starts. */
import { expect, it } from "vitest";
import { loadConfig } from "../src/config.js";
import { remarks } from "../src/main.js";

const remarksOn = (settings: Record<string, string>, datasets: number) => remarks(loadConfig(settings, {}), datasets);

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
