/** Settings of a command: a wrong one is named as it was given, by its flag or by its variable. */
import { Command } from "commander";
import { afterEach, expect, it, vi } from "vitest";
import { addSettings, configOf } from "../../../src/cli/input/settings.js";

afterEach(() => vi.unstubAllEnvs());

const given = (...words: string[]) => addSettings(new Command("serve")).parse(words, { from: "user" });

it("names the flag where the flag was given, else the variable", () => {
  const wrong = "must be a whole number from 0 to 65535";
  expect(() => configOf(given("--port", "abc"))).toThrow(`--port ${wrong}, not abc`);
  vi.stubEnv("FIELDPROBE_PORT", "xyz");
  expect(() => configOf(given())).toThrow(`FIELDPROBE_PORT ${wrong}, not xyz`);
  expect(configOf(given("--port", "81")).port).toBe(81);
});
