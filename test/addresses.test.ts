/** Lists of folders and addresses. */
import { describe, expect, it } from "vitest";
import { isAddress, splitPlaces } from "../src/addresses.js";

describe("places of data", () => {
  it.each([
    ["/data:/more", ["/data", "/more"]],
    ["https://host:9000/a.zarr:/data", ["https://host:9000/a.zarr", "/data"]],
    ["/data:s3://bucket/runs/a.zarr:http://host/b.zarr", ["/data", "s3://bucket/runs/a.zarr", "http://host/b.zarr"]],
    ["https://host:9000:/data", ["https://host:9000", "/data"]],
    [" /data : ", ["/data"]],
  ])("splits %s", (list, places) => {
    expect(splitPlaces(list, ":")).toEqual(places);
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
