/** Connections to NATS: what settings make of them, and servers that prove who they are and want the same. */
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/shared/config.js";
import { type NatsOptions, natsOptions, openNats, writeNkey } from "../../src/shared/nats.js";
import { NO_NATS, useNatsServers } from "../support/nats.js";
import { scratchFolder } from "../support/scratch.js";

const folder = scratchFolder();
const optionsOf = (settings: Record<string, string>) => natsOptions(loadConfig(settings, {}).nats) as NatsOptions;

describe("settings of NATS", () => {
  it("name servers, with a port of their own or the usual one, and may hold a password", () => {
    expect(natsOptions(loadConfig({}, {}).nats)).toBeNull();
    const several = optionsOf({ NATS: "nats://10.0.0.1:4222,10.0.0.2,tls://a.example:5000" });
    expect(several).toMatchObject({ servers: ["10.0.0.1:4222", "10.0.0.2:4222", "a.example:5000"] });
    expect(several.tls).toBeDefined();
    expect(optionsOf({ NATS: "nats://me:p%40ss@host" })).toMatchObject({
      user: "me",
      pass: "p@ss",
      servers: ["host:4222"],
    });
    expect(optionsOf({ NATS: "nats://secret@host" })).toMatchObject({ token: "secret" });
    expect(optionsOf({ NATS: "host" })).toMatchObject({ inboxPrefix: "fieldprobe.inbox", reconnect: false });
  });

  it.each([
    [{ NATS: "http://a" }, "FIELDPROBE_NATS: a is not an address like nats://10.0.0.1:4222"],
    [{ NATS: "a", NATS_CREDENTIALS: "/none" }, "FIELDPROBE_NATS_CREDENTIALS: /none: no such file or folder"],
    [{ NATS: "a", NATS_CERT: "/none" }, "FIELDPROBE_NATS_CERT and FIELDPROBE_NATS_KEY go together"],
  ])("%j: %s", (settings, problem) => {
    expect(() => optionsOf(settings)).toThrow(problem);
  });

  it("take an NKEY that only its owner may read, and that is never written over", async () => {
    const path = join(folder, "a.nk");
    expect(await writeNkey(path)).toMatch(/^U[A-Z2-7]{55}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const seed = readFileSync(path, "utf8");
    await expect(writeNkey(path)).rejects.toThrow(/EEXIST/);
    expect(readFileSync(path, "utf8")).toBe(seed);
  });
});

describe.skipIf(NO_NATS)("a server with TLS that wants an NKEY", () => {
  const startNats = useNatsServers();
  const at = (name: string): string => join(folder, name);

  it("lets in whom it knows, and is refused if its certificate is of another authority", async () => {
    const openssl = (...words: string[]): void => void execFileSync("openssl", words, { cwd: folder, stdio: "ignore" });
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    for (const ca of ["ca", "other"])
      openssl("req", "-x509", ...key, "-days", "9", "-subj", "/CN=x", "-keyout", `${ca}.key`, "-out", `${ca}.crt`);
    openssl("req", ...key, "-subj", "/CN=nats", "-keyout", "server.key", "-out", "server.csr");
    writeFileSync(at("server.ext"), "subjectAltName=IP:127.0.0.1");
    const signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "server.ext", "-days", "9"];
    openssl("x509", "-req", "-in", "server.csr", ...signed, "-out", "server.crt");
    const nkey = await writeNkey(at("known.nk"));
    await writeNkey(at("strange.nk"));
    const tls = `tls { cert_file: "${at("server.crt")}", key_file: "${at("server.key")}" }`;
    const permissions = `{ publish: "fieldprobe.>", subscribe: "fieldprobe.>" }`;
    const users = `authorization { users = [ { nkey: ${nkey}, permissions: ${permissions} } ] }`;
    writeFileSync(at("nats.conf"), `${tls}\n${users}\n`);
    const { url } = await startNats(["-c", at("nats.conf")]);
    const server = { NATS: url.replace("nats:", "tls:"), NATS_CA: at("ca.crt") };
    const known = await openNats(optionsOf({ ...server, NATS_CREDENTIALS: at("known.nk") }));
    await known.flush();
    await known.close();
    const refused = (settings: Record<string, string>) => openNats(optionsOf({ ...server, ...settings }));
    await expect(refused({ NATS_CREDENTIALS: at("strange.nk") })).rejects.toThrow(/Authorization Violation/i);
    const other = { NATS_CA: at("other.crt"), NATS_CREDENTIALS: at("known.nk") };
    await expect(refused(other)).rejects.toThrow(/^NATS \(127\.0\.0\.1:\d+\): .*(certificate|signature)/i);
  });
});
