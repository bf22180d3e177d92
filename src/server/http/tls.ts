/** `readTls` reads certificate and key of an HTTPS server and tries them before it starts. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Config, ConfigError } from "../../config.js";
import { reasonOf } from "../../system-error.js";

/** Reads a file and lets `attempt` use it; its fault becomes one line that names setting and file. */
function read<T>(setting: string, path: string, what: string, attempt: (content: Buffer) => T): [Buffer, T] {
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (error) {
    throw new ConfigError([`${setting}: ${path}: ${reasonOf(error)}`]);
  }
  try {
    return [content, attempt(content)];
  } catch {
    throw new ConfigError([`${setting}: ${path} holds no ${what} in PEM form`]);
  }
}

/**
 * The contents of both files.
 *
 * @throws ConfigError when one cannot be read or used, and when they do not belong together
 */
export function readTls({ cert, key }: NonNullable<Config["tls"]>): { readonly cert: Buffer; readonly key: Buffer } {
  const [certText, certificate] = read("FIELDPROBE_TLS_CERT", cert, "certificate", (text) => new X509Certificate(text));
  const [keyText, privateKey] = read("FIELDPROBE_TLS_KEY", key, "key without passphrase", (text) =>
    createPrivateKey(text),
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new ConfigError([`FIELDPROBE_TLS_KEY: ${key} is not the key of the certificate in ${cert}`]);
  }
  return { cert: certText, key: keyText };
}
