/** What the shipped configurations of NATS expect in their environment: certificates and keys, made for a test. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nkeys } from "@nats-io/transport-node";

const DEPLOY = fileURLToPath(new URL("../../../deploy", import.meta.url));
const ROLES = ["gateway", "worker", "status", "unknown"] as const;
type Role = (typeof ROLES)[number];

/** Why there can be no certificates here, or null. */
export function noCertificates(): string | null {
  return spawnSync("openssl", ["version"]).error ? "openssl is not installed" : null;
}

/** Path of a file in `deploy`. */
export function shipped(name: string): string {
  return join(DEPLOY, name);
}

export interface Secrets {
  /** For the servers. */
  readonly env: Readonly<Record<string, string>>;
  /** Path of a certificate: `ca.pem`, and `other-ca.pem` that nobody has signed anything with. */
  path(name: string): string;
  /** Seed of a role, and the file it is in. */
  key(role: Role): { readonly seed: Uint8Array; readonly file: string };
  /** Settings of a process in a role. */
  settings(role: Role): Record<string, string>;
  remove(): void;
}

export function makeSecrets(): Secrets {
  const folder = mkdtempSync(join(tmpdir(), "nats-"));
  const path = (name: string): string => join(folder, name);
  makeCertificates(folder);
  const keys = new Map(
    ROLES.map((role) => {
      const pair = nkeys.createUser();
      const seed = pair.getSeed();
      writeFileSync(path(`${role}.nk`), `${new TextDecoder().decode(seed)}\n`);
      return [role, { seed, file: path(`${role}.nk`), id: pair.getPublicKey() }] as const;
    }),
  );
  const key = (role: Role) => keys.get(role) as { seed: Uint8Array; file: string; id: string };
  return {
    env: {
      FP_TLS_CERT: path("server.pem"),
      FP_TLS_KEY: path("server-key.pem"),
      FP_TLS_CA: path("ca.pem"),
      FP_GATEWAY_NKEY: key("gateway").id,
      FP_WORKER_NKEY: key("worker").id,
      FP_STATUS_NKEY: key("status").id,
      FP_ROUTE_PASSWORD: "routes",
    },
    path,
    key,
    settings: (role) => ({ NATS_NKEY: key(role).file, NATS_CA: path("ca.pem") }),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** A certificate for 127.0.0.1, signed by an authority of its own. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]): void => {
    const { status, stderr } = spawnSync("openssl", args, { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  for (const name of ["ca", "other-ca"])
    openssl(
      "req",
      "-x509",
      "-days",
      "2",
      ...key,
      "-keyout",
      `${name}-key.pem`,
      "-out",
      `${name}.pem`,
      "-subj",
      `/CN=${name}`,
    );
  openssl("req", ...key, "-keyout", "server-key.pem", "-out", "server.csr", "-subj", "/CN=nats");
  writeFileSync(join(folder, "names"), "subjectAltName=IP:127.0.0.1,DNS:localhost");
  const signing = ["-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  openssl("x509", "-req", "-in", "server.csr", "-out", "server.pem", ...signing);
}
