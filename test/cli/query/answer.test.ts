/** A service that cannot be reached is told with what helps: no one there, a certificate nobody knows, no TLS. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { downloadCutout } from "../../../src/cli/query/download-cutout.js";
import { queryService } from "../../../src/cli/query/remote.js";

const fixture = (name: string) => readFileSync(new URL(`../../server/http/fixtures/${name}`, import.meta.url));
const plain = createServer((_, response) => response.end());
const secure = createSecureServer({ cert: fixture("cert.pem"), key: fixture("key.pem") });
const portOf = (server: Server) => (server.address() as AddressInfo).port;

beforeAll(() => Promise.all([plain, secure].map((server) => once(server.listen(0, "127.0.0.1"), "listening"))));
afterAll(() => {
  plain.close();
  secure.close();
});

/** The words of `query` and `cutout` about an address. */
async function messages(url: string): Promise<string[]> {
  const members = { dataset: "u", time: 0, spatialInterpolation: "Lag4" };
  const asked = { operation: "GetVelocity", members, points: Float32Array.of(1, 2, 3), velocities: null };
  const source = { url, token: undefined, dataset: "u" };
  const tries = [queryService(url, undefined, asked, false, () => undefined), downloadCutout(source, {}, "never.h5")];
  return Promise.all(
    tries.map((attempt) =>
      attempt.then(
        () => "reached",
        (error: Error) => error.message,
      ),
    ),
  );
}

it("a certificate of nobody known is said to be one, with what names it", async () => {
  const url = `https://127.0.0.1:${portOf(secure)}`;
  for (const message of await messages(url))
    expect(message).toMatch(
      /^https:\S+: self-signed certificate; NODE_EXTRA_CA_CERTS=FILE names the certificate to trust$/,
    );
});

it("a service without TLS is not said to be missing", async () => {
  const url = `https://127.0.0.1:${portOf(plain)}`;
  expect(await messages(url)).toEqual([
    `${url} does not speak TLS: try http://`,
    `${url} does not speak TLS: try http://`,
  ]);
});

it("an address at which nobody listens has no service", async () => {
  const gone = createServer();
  await once(gone.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${portOf(gone)}`;
  await once(gone.close(), "close");
  for (const message of await messages(url))
    expect(message).toMatch(/^there is no service at http:\S+: connect ECONNREFUSED/);
});
