/** An authority and certificates of a cluster, made by the commands of docs/cluster.md. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PEER_NAME } from "../../../src/cluster/keys.js";

/** Makes an authority and a certificate of it in a folder. @returns settings that name the files */
export function makeKeys(folder: string): Record<"PEER_CERT" | "PEER_KEY" | "PEER_CA", string> {
  const at = (name: string): string => join(folder, name);
  const openssl = (...words: string[]): void => void execFileSync("openssl", words, { cwd: folder, stdio: "ignore" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl("req", "-x509", ...key, "-days", "3650", "-subj", "/CN=cluster", "-keyout", "ca.key", "-out", "ca.crt");
  openssl("req", ...key, "-subj", `/CN=${PEER_NAME}`, "-keyout", "peer.key", "-out", "peer.csr");
  writeFileSync(at("peer.ext"), `subjectAltName=DNS:${PEER_NAME}`);
  const signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "peer.ext"];
  openssl("x509", "-req", "-in", "peer.csr", ...signed, "-days", "365", "-out", "peer.crt");
  return { PEER_CERT: at("peer.crt"), PEER_KEY: at("peer.key"), PEER_CA: at("ca.crt") };
}
