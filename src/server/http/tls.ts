/** Certificate and key of an HTTPS server, reloaded when the files change. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Server } from "node:https";
import { type Config, ConfigError } from "../../shared/config.js";
import { reasonOf } from "../../shared/system.js";

/** Reads a file; an error adds a line to `problems` that names setting and file. */
function read<T>(
  problems: string[],
  setting: string,
  path: string,
  what: string,
  attempt: (content: Buffer) => T,
): [Buffer, T] | null {
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (error) {
    problems.push(`${setting}: ${path}: ${reasonOf(error)}`);
    return null;
  }
  try {
    return [content, attempt(content)];
  } catch {
    problems.push(`${setting}: ${path} holds no ${what} in PEM form`);
    return null;
  }
}

interface KeyPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** @throws ConfigError when a file cannot be read or used, and when they do not belong together */
function readPair({ cert, key }: NonNullable<Config["tls"]>): KeyPair & { readonly certificate: X509Certificate } {
  const problems: string[] = [];
  const ofCert = read(problems, "FIELDPROBE_TLS_CERT", cert, "certificate", (text) => new X509Certificate(text));
  const ofKey = read(problems, "FIELDPROBE_TLS_KEY", key, "key without passphrase", (text) => createPrivateKey(text));
  if (ofCert === null || ofKey === null) throw new ConfigError(problems);
  const [certText, certificate] = ofCert;
  const [keyText, privateKey] = ofKey;
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new ConfigError([`FIELDPROBE_TLS_KEY: ${key} is not the key of the certificate in ${cert}`]);
  }
  return { cert: certText, key: keyText, certificate };
}

export interface TlsLog {
  info(details: object, message: string): void;
  error(details: object, message: string): void;
}

export class TlsFiles {
  readonly #files: NonNullable<Config["tls"]>;
  #pair: KeyPair;

  /** @throws ConfigError when they cannot be used */
  constructor(files: NonNullable<Config["tls"]>) {
    this.#files = files;
    this.#pair = readPair(files);
  }

  get pair(): KeyPair {
    return this.#pair;
  }

  /** Gives a changed pair to new connections; a pair that cannot be used changes nothing. */
  reload(server: Pick<Server, "setSecureContext">, log: TlsLog): void {
    try {
      const { cert, key, certificate } = readPair(this.#files);
      if (cert.equals(this.#pair.cert) && key.equals(this.#pair.key)) {
        log.info({}, "the TLS files are unchanged");
        return;
      }
      server.setSecureContext({ cert, key });
      this.#pair = { cert, key };
      const { subject, validTo } = certificate;
      log.info({ subject, validTo }, "the TLS files have changed and are in effect for new connections");
    } catch (err) {
      log.error({ err }, "the TLS files cannot be used; the last good pair stays");
    }
  }
}
