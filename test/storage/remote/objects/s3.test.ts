/** Addresses and credentials of S3, and stores in buckets of a server that checks signatures. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { STORE_DEFAULTS } from "../../../../src/shared/store-settings.js";
import { scanFolders } from "../../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../../src/storage/dataset/dataset.js";
import { objectTarget } from "../../../../src/storage/remote/objects/object-target.js";
import { s3Place } from "../../../../src/storage/remote/objects/s3.js";
import { convertToZarr } from "../../../../src/storage/tools/convert-zarr.js";
import { stateGrid, writeField, writeHdf5 } from "../../../support/cubes.js";
import { onlyDataset } from "../../../support/only-dataset.js";
import { useS3Bucket } from "../../../support/s3-server.js";
import { scratchFolder } from "../../../support/scratch.js";
import { knownObjects } from "../../../support/zarr.js";
import { array, expectNodes, TABLES } from "../../zarr/numbered-cube.js";

const SCRATCH = scratchFolder();
const EMPTY = { HOME: SCRATCH };

describe("the place of a prefix", () => {
  it("is an address of Amazon in the region of the variables", () => {
    const { prefix, key } = s3Place("s3://cubes/runs/flow 1.zarr/", { ...EMPTY, AWS_REGION: "eu-central-1" });
    expect(prefix).toBe("https://cubes.s3.eu-central-1.amazonaws.com/runs/flow%201.zarr");
    expect(key).toBe("runs/flow 1.zarr");
  });

  it("is below the endpoint where one is set", () => {
    const { prefix } = s3Place("s3://cubes/a", { ...EMPTY, AWS_ENDPOINT_URL: "http://127.0.0.1:9000/" });
    expect(prefix).toBe("http://127.0.0.1:9000/cubes/a");
  });

  it("takes credentials, region and endpoint of a profile from the shared files", async () => {
    const home = join(SCRATCH, "home");
    mkdirSync(join(home, ".aws"), { recursive: true });
    writeFileSync(join(home, ".aws", "credentials"), "[lab]\naws_access_key_id = ID\naws_secret_access_key = KEY\n");
    writeFileSync(
      join(home, ".aws", "config"),
      "[profile lab]\nregion = us-west-2\nendpoint_url = https://s3.lab.example\n",
    );
    const { prefix, sign } = s3Place("s3://cubes/a", { HOME: home, AWS_PROFILE: "lab" });
    expect(prefix).toBe("https://s3.lab.example/cubes/a");
    const signed = await sign(new Request(`${prefix}/zarr.json`));
    expect(signed.headers.get("authorization")).toMatch(/^AWS4-HMAC-SHA256 Credential=ID\/\d{8}\/us-west-2\/s3\//);
  });

  it("is one of Google for gs://, whose variables do not count for Amazon, nor the other way round", async () => {
    const keys = { GS_ACCESS_KEY_ID: "GOOG", GS_SECRET_ACCESS_KEY: "KEY", AWS_ENDPOINT_URL: "http://127.0.0.1:1" };
    const { prefix, sign } = s3Place("gs://cubes/runs/a.zarr", { ...EMPTY, ...keys });
    expect(prefix).toBe("https://storage.googleapis.com/cubes/runs/a.zarr");
    const signed = await sign(new Request(prefix));
    expect(signed.headers.get("authorization")).toMatch(/Credential=GOOG\/\d{8}\/auto\/s3\//);
    const aws = { AWS_ACCESS_KEY_ID: "ID", AWS_SECRET_ACCESS_KEY: "KEY", AWS_PROFILE: "nope" };
    const unsigned = await s3Place("gs://cubes/a", { ...EMPTY, ...aws }).sign(new Request(prefix));
    expect(unsigned.headers.get("authorization")).toBeNull();
    expect(() => s3Place("gs://cubes/a", { STORAGE_EMULATOR_HOST: "host" })).toThrow(/STORAGE_EMULATOR_HOST is "host"/);
  });

  it.each([
    ["a lone percent sign", "s3://cubes/50%", {}, /50%: a % must begin a character such as %20; write %25/],
    [
      "an endpoint without a scheme",
      "s3://cubes/a",
      { AWS_ENDPOINT_URL: "minio:9000" },
      /AWS_ENDPOINT_URL is "minio:9000"/,
    ],
    [
      "a profile that no file has",
      "s3://cubes/a",
      { AWS_PROFILE: "nope" },
      /AWS_PROFILE is "nope", which neither file/,
    ],
    ["a bucket whose name is none", "s3://C/a", {}, /does not name a bucket/],
    [
      "a key with a line break",
      "s3://cubes/a",
      { AWS_ACCESS_KEY_ID: "secret\n", AWS_SECRET_ACCESS_KEY: "K" },
      /^AWS_ACCESS_KEY_ID has a character that no credential has/,
    ],
    [
      "one half of a pair",
      "gs://cubes/a",
      { GS_SECRET_ACCESS_KEY: "K", GS_ACCESS_KEY_ID: "" },
      /^GS_SECRET_ACCESS_KEY is set, but not GS_ACCESS_KEY_ID: set both/,
    ],
  ])("names what is wrong with %s", (_, location, variables, words) => {
    expect(() => s3Place(location, { ...EMPTY, ...variables })).toThrow(words);
  });

  it("takes over credentials that are renewed in the files", async () => {
    const file = join(SCRATCH, "credentials");
    const write = (id: string) =>
      writeFileSync(file, `[default]\naws_access_key_id = ${id}\naws_secret_access_key = K\n`);
    write("FIRST");
    const { prefix, sign } = s3Place("s3://cubes/a", { ...EMPTY, AWS_SHARED_CREDENTIALS_FILE: file });
    const keyOf = async () => (await sign(new Request(prefix))).headers.get("authorization");
    expect(await keyOf()).toMatch(/Credential=FIRST/);
    write("SECOND");
    const now = performance.now();
    const clock = vi.spyOn(performance, "now").mockReturnValue(now + 61_000);
    expect(await keyOf()).toMatch(/Credential=SECOND/);
    clock.mockRestore();
  });

  it("takes empty settings of a profile for none, and never keys of the variables with those of a profile", async () => {
    const file = join(SCRATCH, "half");
    writeFileSync(
      file,
      "[default]\naws_access_key_id = P\naws_secret_access_key = K\naws_session_token =\n[old]\naws_session_token = T\n",
    );
    const shared = { ...EMPTY, AWS_SHARED_CREDENTIALS_FILE: file };
    const headersOf = async (variables: Record<string, string>) => {
      const { prefix, sign } = s3Place("s3://cubes/a", { ...shared, ...variables });
      return (await sign(new Request(prefix))).headers;
    };
    expect((await headersOf({})).get("authorization")).toMatch(/Credential=P/);
    const own = await headersOf({ AWS_PROFILE: "old", AWS_ACCESS_KEY_ID: "V", AWS_SECRET_ACCESS_KEY: "S" });
    expect(own.get("authorization")).toMatch(/Credential=V/);
    expect(own.get("x-amz-security-token")).toBeNull();
    expect(() => s3Place("s3://cubes/a", { ...shared, AWS_ACCESS_KEY_ID: "V" })).toThrow(
      /^AWS_ACCESS_KEY_ID is set, but not AWS_SECRET_ACCESS_KEY/,
    );
  });

  it("leaves requests unsigned without credentials", async () => {
    const none = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", AWS_ENDPOINT_URL: "", AWS_PROFILE: "" };
    const { prefix, sign } = s3Place("s3://cubes/a", { ...EMPTY, ...none });
    expect((await sign(new Request(prefix))).headers.get("authorization")).toBeNull();
  });

  it.each(["s3://", "s3://Bad_Bucket/a", "s3://a/x"])("refuses %s", (location) => {
    expect(() => s3Place(location, EMPTY)).toThrow(/bucket|Invalid URL/);
  });
});

describe("a store in a bucket", () => {
  const bucket = useS3Bucket(join(SCRATCH, "s3"));
  const OPTIONS = { chunkBytes: 64 * 1024 * 1024 };
  const scan = (location = "s3://cubes/runs/flow.zarr") => scanFolders([location], OPTIONS);
  const served = (location = "s3://cubes/runs/flow.zarr"): Dataset => onlyDataset(location);

  beforeAll(async () => {
    const velocity = array(["t", "z", "y", "x", "c"], { shard: [1, 2, 1, 2, 1], codec: "gzip" });
    await bucket.put(
      "runs/flow.zarr",
      knownObjects({ version: 3, arrays: { velocity, ...TABLES }, consolidated: true }),
    );
  });

  it("reads as its nodes", () => {
    expect(served().name).toBe("flow");
    expectNodes(served(), "velocity", 3);
  });

  it("reads as its nodes by gs:// too, listed as a folder", () => {
    expectNodes(served("gs://cubes/runs"), "velocity", 3);
  });

  it("is listed where its metadata are not consolidated", async () => {
    const velocity = array(["t", "z", "y", "x", "c"], { codec: "gzip" });
    await bucket.put("plain.zarr", knownObjects({ version: 3, arrays: { velocity, ...TABLES } }));
    expectNodes(served("s3://cubes/plain.zarr"), "velocity", 3);
  });

  it("may hold an HDF5 file, which is read by ranges", async () => {
    const path = await writeHdf5(join(SCRATCH, "cube.h5"), (file) => {
      stateGrid(file);
      writeField(file, "p", { dimensions: ["t", "z", "y", "x"], chunks: [1, 4, 10, 5], filter: "gzip" });
      file.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
    });
    await bucket.put("h5", new Map([["cube.h5", readFileSync(path)]]));
    expectNodes(served("s3://cubes/h5/cube.h5"), "pressure", 1);
  });

  it("is written by a conversion, which goes on where it was interrupted", async () => {
    const [source] = scan().datasets as [Dataset];
    const target = objectTarget("s3://cubes/out/flow.zarr", STORE_DEFAULTS);
    const options = { name: "flow", chunk: 4, shard: 8, compression: "zstd" } as const;
    let left = 5;
    const stop = () => {
      if (--left === 0) throw new Error("interrupted");
    };
    await expect(convertToZarr(source, target, options, stop)).rejects.toThrow("interrupted");
    expect(scan("s3://cubes/out/flow.zarr").datasets).toEqual([]);
    const { kept, files } = await convertToZarr(source, target, options, () => {});
    expect([kept, files]).toEqual([5, 3 * 2 * 2 * 2]);
    expectNodes(served("s3://cubes/out/flow.zarr"), "velocity", 3);
    await expect(convertToZarr(source, target, options, () => {})).rejects.toThrow(/holds a store already/);
  });
});
