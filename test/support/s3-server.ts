/** A bucket of an S3-compatible server of the package registry, for the tests of a file. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll, vi } from "vitest";

const KEYS = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };

export interface S3Bucket {
  /** The variables that lead to it, for other processes; this one has them. */
  readonly environment: Readonly<Record<string, string>>;
  put(prefix: string, objects: ReadonlyMap<string, Uint8Array>): Promise<void>;
  remove(key: string): Promise<void>;
}

/** Starts the server; it keeps its objects in a folder. */
export function useS3Bucket(directory: string): S3Bucket {
  const environment: Record<string, string> = {
    AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    AWS_ENDPOINT_URL: "",
    GS_ACCESS_KEY_ID: KEYS.accessKeyId,
    GS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    STORAGE_EMULATOR_HOST: "",
  };
  let worker: Worker;
  beforeAll(async () => {
    worker = new Worker(new URL("./s3-server.mjs", import.meta.url), { workerData: { directory, bucket: "cubes" } });
    const [port] = (await once(worker, "message")) as [number];
    environment.AWS_ENDPOINT_URL = `http://127.0.0.1:${port}`;
    environment.STORAGE_EMULATOR_HOST = environment.AWS_ENDPOINT_URL;
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await worker.terminate();
  });
  const client = new AwsClient({ ...KEYS, region: "us-east-1", service: "s3" });
  const send = async (key: string, init: { method: string; body?: never }) => {
    const { status } = await client.fetch(`${environment.AWS_ENDPOINT_URL}/cubes/${key}`, init);
    if (status >= 300) throw new Error(`${init.method} ${key}: status ${status}`);
  };
  return {
    environment,
    put: async (prefix, objects) => {
      for (const [key, bytes] of objects) await send(`${prefix}/${key}`, { method: "PUT", body: bytes as never });
    },
    remove: (key) => send(key, { method: "DELETE" }),
  };
}
