/** Lists of folders and addresses. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pathArgument } from "../../src/cli/input/arguments.js";
import { foreignAddress, isAddress, splitPlaces } from "../../src/shared/addresses.js";
import { loadConfig } from "../../src/shared/config.js";
import { scratchFolder } from "../support/scratch.js";

describe("places of data", () => {
  it.each([
    ["/data:/more", ["/data", "/more"]],
    ["https://host:9000/a.zarr:/data", ["https://host:9000/a.zarr", "/data"]],
    ["/data:s3://bucket/runs/a.zarr:http://host/b.zarr", ["/data", "s3://bucket/runs/a.zarr", "http://host/b.zarr"]],
    ["https://host:9000:/data", ["https://host:9000", "/data"]],
    [" /data : ", ["/data"]],
    ["file:///data/a%20b.zarr:s3://bucket", ["/data/a b.zarr", "s3://bucket"]],
  ])("splits %s", (list, places) => {
    expect(splitPlaces(list, ":")).toEqual(places);
  });

  it("takes a folder whose name has the separator as one place", () => {
    const folder = join(scratchFolder(), "run:1");
    mkdirSync(folder, { recursive: true });
    expect(splitPlaces(folder, ":")).toEqual([folder]);
    writeFileSync(join(folder, "u.h5"), "");
    expect(splitPlaces(join(folder, "u.h5"), ":")).toEqual([join(folder, "u.h5")]);
  });

  it("names the addresses that are not read, with the way out", () => {
    expect(splitPlaces("/data:gs://bucket/runs/a.zarr:/more", ":")).toEqual([
      "/data",
      "gs://bucket/runs/a.zarr",
      "/more",
    ]);
    expect(foreignAddress("gcs://bucket/runs/a.zarr")).toBe(
      "gcs://bucket/runs/a.zarr: only https://, http://, s3:// and gs:// are read; write gs://",
    );
    expect(foreignAddress("az://container/a.zarr")).toMatch(/ACCOUNT\.blob\.core\.windows\.net\/CONTAINER\/PATH$/);
    expect(foreignAddress("icechunk://a")).toMatch(/copy it to a store of Zarr/);
    expect(foreignAddress("ftp://a/b")).toMatch(/give its https:\/\/ address$/);
    for (const place of ["/data", "s3://bucket", "gs://bucket", "https://host"])
      expect(foreignAddress(place)).toBeNull();
    expect(() => loadConfig({ DATA: "/tmp:az://bucket/a" }, {})).toThrow(/must not name az:\/\/bucket\/a: only https/);
    expect(() => pathArgument("az://c/a.zarr")).toThrow(/only https/);
  });

  it("knows addresses from paths", () => {
    expect(["s3://b/k", "https://h/p", "HTTP://h", "/a", "a.h5", "c:/x", "ftp://h"].map(isAddress)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
