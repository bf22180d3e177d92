/** A descriptor may name some hosts only. */
import { describe, expect, it } from "vitest";
import { Hosts } from "../../../src/storage/remote/hosts.js";

describe("hosts of stores", () => {
  it.each([
    "http://127.0.0.1:9000/a.zarr",
    "http://10.1.2.3/a.zarr",
    "http://192.168.0.7/a.zarr",
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]:80/a.zarr",
    "http://[fd00::1]/a.zarr",
    "http://[::ffff:127.0.0.1]/a.zarr",
    "https://localhost/a.zarr",
    "http://0x7f.1/a.zarr",
  ])("refuses %s, unless its host was named", async (address) => {
    const hosts = new Hosts();
    await expect(hosts.check(address)).rejects.toThrow(/private network/);
    hosts.name(address);
    await expect(hosts.check(address)).resolves.toBeUndefined();
  });

  it.each(["http://8.8.8.8/a.zarr", "https://[2001:4860:4860::8888]/a.zarr", "s3://bucket/a.zarr"])(
    "takes %s",
    async (address) => {
      await expect(new Hosts().check(address)).resolves.toBeUndefined();
    },
  );
});

it.each([
  "https://me:secret@example.org/a.zarr",
  "s3://me:secret@bucket/a",
  "https://example.org/a.h5?signature=secret",
])("refuses what would be logged and gives nothing of it away: %s", async (address) => {
  const refusal = await new Hosts().check(address).catch((error: Error) => error.message);
  expect(refusal).toMatch(/is refused/);
  expect(refusal).not.toMatch(/secret/);
  expect(() => new Hosts().name(address)).toThrow(/is refused/);
});
