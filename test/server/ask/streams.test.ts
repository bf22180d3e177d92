/** Large requests and answers over a real socket: any pieces, any pace, compressed or not, the same numbers. */
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setImmediate as pause } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { digestToken, watchTokens } from "../../../src/server/http/auth.js";
import { scratchFolder } from "../../support/scratch.js";
import { analyticEngine } from "./analysis/analytic-engine.js";
import { serveApi } from "./serve-api.js";

const POINTS = 60_000;
const FLOATS = Float32Array.from({ length: 3 * POINTS }, (_, i) => Math.fround(i / 7) - 1000);

let app: FastifyInstance;
let url: string;
beforeAll(async () => {
  app = await serveApi(analyticEngine(), { settings: { HTTP_GZIP: "on" } });
  url = await app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => app.close());

/** The last three numbers of rows of x, y, z and three quantities. */
const quantitiesOf = (rows: readonly (readonly number[])[]) => Float32Array.from(rows.flatMap((row) => row.slice(3)));

/** Posts a body in pieces of a size that fits nothing, and reads the answer with rests in between. */
function exchange(
  body: Buffer,
  headers: Record<string, string>,
): Promise<{ bytes: Buffer; encoding: string | undefined; vary: string | undefined }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/api/datasets/tilted/values?what=a%3Dx,b%3Dy,c%3Dz&time=0`,
      { method: "POST", headers },
      async (response) => {
        const pieces: Buffer[] = [];
        for await (const piece of response) {
          pieces.push(piece as Buffer);
          if (pieces.length % 8 === 0) await pause();
        }
        const { "content-encoding": encoding, vary } = response.headers;
        resolve({ bytes: Buffer.concat(pieces), encoding, vary });
      },
    );
    sent.once("error", reject);
    for (let from = 0; from < body.length; from += 7_919) sent.write(body.subarray(from, from + 7_919));
    sent.end();
  });
}

describe("60 000 points", () => {
  const octets = Buffer.from(FLOATS.buffer);
  const text = Buffer.from(
    JSON.stringify({ points: Array.from({ length: POINTS }, (_, i) => [...FLOATS.subarray(3 * i, 3 * i + 3)]) }),
  );
  const type = "application/octet-stream";

  it.each([
    ["float32", octets, type],
    ["JSON", text, "application/json"],
  ])("come back from %s as CSV and JSON", async (_name, body, contentType) => {
    const csv = await exchange(body, { "content-type": contentType, accept: "text/csv" });
    const rows = csv.bytes.toString("latin1").trimEnd().split("\r\n").slice(1);
    expect(rows).toHaveLength(POINTS);
    expect(Buffer.from(quantitiesOf(rows.map((row) => row.split(",").map(Number))).buffer).equals(octets)).toBe(true);
    const json = await exchange(body, { "content-type": contentType, accept: "application/json" });
    const answer = JSON.parse(json.bytes.toString()) as { rows: number[][] };
    expect(Buffer.from(quantitiesOf(answer.rows).buffer).equals(octets)).toBe(true);
  });

  it("come back compressed to who asks for it", async () => {
    const headers = { "content-type": type, accept: "text/csv" };
    const plain = await exchange(octets, headers);
    const { bytes, encoding, vary } = await exchange(octets, { ...headers, "accept-encoding": "gzip" });
    expect([encoding, vary]).toEqual(["gzip", "Accept, Accept-Encoding"]);
    expect(gunzipSync(bytes).equals(plain.bytes)).toBe(true);
  });

  const folder = scratchFolder();
  it("are too many for a token of fewer", async () => {
    const file = join(folder, "tokens.json");
    const tokens = [{ name: "small", sha256: digestToken("small-token"), limit: 100 }];
    writeFileSync(file, JSON.stringify({ version: 1, tokens }));
    const log = { info: () => undefined, error: () => undefined };
    const auth = watchTokens(file, false, { "token.concurrent": 0, "token.perMinute": 0 }, log);
    const guarded = await serveApi(analyticEngine(), { auth });
    const ask = (count: number) =>
      guarded.inject({
        method: "POST",
        url: "/api/datasets/tilted/values?what=a%3Dx&time=0",
        payload: octets.subarray(0, 12 * count),
        headers: { "content-type": type, authorization: "Bearer small-token" },
      });
    expect((await ask(100)).statusCode).toBe(200);
    const detail = expect.stringMatching(/ 100 points would fit\.?$/);
    const refusal = { status: 413, code: "LimitExceeded", limit: "token.points", detail };
    expect((await ask(101)).json()).toMatchObject(refusal);
    await guarded.close();
  });
});
