/** Certificate and key: what is wrong with them is said with setting and file. */
import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { TlsFiles } from "../../../src/server/http/tls.js";
import { ConfigError } from "../../../src/shared/config.js";
import { scratchFolder } from "../../support/scratch.js";

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const [cert, key] = [fixture("cert.pem"), fixture("key.pem")];
const folder = scratchFolder();

function problem(certificate: string, privateKey: string): string {
  try {
    new TlsFiles({ cert: certificate, key: privateKey });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join("\n");
    throw error;
  }
  return "";
}

it("reads both files", () => {
  expect(new TlsFiles({ cert, key }).pair).toMatchObject({ cert: readFileSync(cert), key: readFileSync(key) });
});

it("names the file that is missing, that is none, or that belongs to another", () => {
  const [none, text, foreign] = ["none", "text", "foreign"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(text, "x,y,z\n");
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(foreign, privateKey.export({ type: "pkcs8", format: "pem" }));
  expect(problem(none, key)).toBe(`FIELDPROBE_TLS_CERT: ${none}: no such file or folder`);
  expect(problem(cert, none)).toBe(`FIELDPROBE_TLS_KEY: ${none}: no such file or folder`);
  expect(problem(text, key)).toBe(`FIELDPROBE_TLS_CERT: ${text} holds no certificate in PEM form`);
  expect(problem(cert, text)).toBe(`FIELDPROBE_TLS_KEY: ${text} holds no key without passphrase in PEM form`);
  expect(problem(cert, foreign)).toBe(`FIELDPROBE_TLS_KEY: ${foreign} is not the key of the certificate in ${cert}`);
});
