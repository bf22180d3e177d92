/** Judging a token costs the same for every token, whatever is wrong with it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeEach, expect, it, vi } from "vitest";
import { digestToken, watchTokens } from "../../../src/server/http/auth.js";
import { LIMITS } from "../../../src/shared/config.js";
import { scratchFolder } from "../../support/scratch.js";

const calls = vi.hoisted(() => ({ compared: [] as [number, number][], digested: 0 }));
vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof import("node:crypto")>();
  return {
    ...crypto,
    createHash: (name: string) => {
      calls.digested++;
      return crypto.createHash(name);
    },
    timingSafeEqual: (a: Uint8Array, b: Uint8Array) => {
      calls.compared.push([a.length, b.length]);
      return crypto.timingSafeEqual(a, b);
    },
  };
});

const folder = scratchFolder();
const path = join(folder, "tokens.json");
const NAMES = Array.from({ length: 50 }, (_, i) => `token-number-${i}`);
const tokens = NAMES.map((name, i) => ({ name, sha256: digestToken(name), limit: i === 7 ? -1 : 0 }));
writeFileSync(path, JSON.stringify({ version: 1, tokens }));
const auth = watchTokens(path, false, LIMITS, pino({ level: "silent" }));
afterAll(() => {
  auth.close();
});
beforeEach(() => {
  Object.assign(calls, { compared: [], digested: 0 });
});

it.each([
  ["missing", null],
  ["empty", ""],
  ["unknown", "unknown"],
  ["like the first but for its end", "token-number-00"],
  ["a digest itself", digestToken(NAMES[0] as string)],
  ["of 4096 characters", "x".repeat(4096)],
  ["malformed", "\u0000<&\ud83c\udf00"],
  ["disabled", NAMES[7] as string],
  ["the first", NAMES[0] as string],
  ["the last", NAMES.at(-1) as string],
])(
  "R107, R108: a token that is %s takes one digest and a comparison in constant time with each known one",
  (_what, token) => {
    try {
      auth.authorise(token).release();
    } catch (error) {
      expect(error).toMatchObject({ code: "AuthenticationFailed" });
    }
    expect(calls.digested).toBe(1);
    expect(calls.compared).toEqual(NAMES.map(() => [64, 64]));
  },
);
