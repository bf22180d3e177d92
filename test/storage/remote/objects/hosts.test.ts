/** A descriptor may name some hosts only. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { describe, expect, it } from "vitest";
import { STORE_DEFAULTS } from "../../../../src/shared/store-settings.js";
import { Hosts } from "../../../../src/storage/remote/objects/hosts.js";
import { HttpConnections } from "../../../../src/storage/remote/objects/http-connections.js";
import { RemoteObjects } from "../../../../src/storage/remote/objects/remote-objects.js";
import { Stores } from "../../../../src/storage/remote/stores.js";

describe("hosts of stores", () => {
  it.each(
    [
      "http://127.0.0.1:9000/a.zarr http://10.1.2.3/a.zarr http://192.168.0.7/a.zarr",
      "http://169.254.169.254/latest/meta-data http://[::1]:80/a.zarr http://[fd00::1]/a.zarr",
      "http://[::ffff:127.0.0.1]/a.zarr http://[64:ff9b::10.1.2.3]/a.zarr http://[64:ff9b::a9fe:a9fe]/latest/meta-data",
      "http://[64:ff9b:1::808:808]/a.zarr http://[::192.168.0.7]/a.zarr http://[2002:7f00:1::1]/a.zarr",
      "http://[2002:c0a8:7::]/a.zarr https://localhost/a.zarr http://0x7f.1/a.zarr",
    ].flatMap((line) => line.split(" ")),
  )("refuses %s, unless its host was named", async (address) => {
    const hosts = new Hosts();
    await expect(hosts.check(address)).rejects.toThrow(/private network/);
    hosts.allow(address);
    await expect(hosts.check(address)).resolves.toBeUndefined();
  });

  it.each([
    "http://8.8.8.8/a.zarr",
    "https://[2001:4860:4860::8888]/a.zarr",
    "http://[64:ff9b::8.8.8.8]/a.zarr",
    "http://[2002:808:808::1]/a.zarr",
    "s3://bucket/a.zarr",
  ])("takes %s", async (address) => {
    await expect(new Hosts().check(address)).resolves.toBeUndefined();
  });
});

it.each([
  "https://me:secret@example.org/a.zarr",
  "s3://me:secret@bucket/a",
  "https://example.org/a.h5?signature=secret",
])("refuses what would be logged and gives nothing of it away: %s", async (address) => {
  const refusal = await new Hosts().check(address).catch((error: Error) => error.message);
  expect(refusal).toMatch(/is refused/);
  expect(refusal).not.toMatch(/secret/);
  expect(() => new Hosts().allow(address)).toThrow(/is refused/);
});

describe("a host whose name leads to another address when a connection is made", () => {
  /** A resolver that knows one address after the other, the last one for good. */
  function resolver(...addresses: string[]): LookupFunction {
    return (_host, { all }, done) => {
      const address = (addresses.length > 1 ? addresses.shift() : addresses[0]) as string;
      if (all === true) done(null, [{ address, family: 4 }]);
      else done(null, address, 4);
    };
  }

  it.each(["x.zarr", "x.h5"])("is refused where that is a private one: %s", async (name) => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = `http://data.example.org:${(server.address() as AddressInfo).port}/${name}`;
    const open = (stores: Stores, named: boolean) =>
      name.endsWith("h5") ? stores.file({ store: address, named }) : stores.open({ store: address, named });
    const setting = { settings: { ...STORE_DEFAULTS, attempts: 1 }, disk: null };
    // The first address is that of the check, the second that of the connection.
    const rebound = new Stores(setting, new Hosts(resolver("93.184.215.14", "127.0.0.1")));
    await expect(open(rebound, false)).rejects.toThrow(/data.example.org is in a private network/);
    expect(requests).toBe(0);
    await open(new Stores(setting, new Hosts(resolver("127.0.0.1"))), true).catch(() => null);
    expect(requests).toBeGreaterThan(0);
    server.closeAllConnections();
    server.close();
  });

  it("is refused behind a redirection too", async () => {
    const server = createServer((_, response) => {
      response.writeHead(302, { location: "/elsewhere", connection: "close" }).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const hosts = new Hosts(resolver("192.168.0.1"));
    let connections = 0;
    const lookup: LookupFunction = (host, options, done) =>
      (connections++ === 0 ? resolver("127.0.0.1") : hosts.lookup)(host, options, done);
    const objects = new RemoteObjects(undefined, STORE_DEFAULTS, new HttpConnections(lookup));
    const address = `http://data.example.org:${(server.address() as AddressInfo).port}/x`;
    await expect(objects.fetch(address)).rejects.toThrow(/private network/);
    expect(connections).toBe(2);
    server.closeAllConnections();
    server.close();
  });

  it("is named with the variables that lead elsewhere if it is an unknown one of Amazon", async () => {
    const unknown: LookupFunction = (host, _, done) =>
      done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND", hostname: host }), []);
    const settings = { ...STORE_DEFAULTS, attempts: 1 };
    const objects = new RemoteObjects(undefined, settings, new HttpConnections(unknown));
    await expect(objects.fetch("https://runs.s3.nowhere-1.amazonaws.com/x")).rejects.toThrow(
      /ENOTFOUND runs.s3.nowhere-1.amazonaws.com \(check bucket and AWS_REGION; AWS_ENDPOINT_URL names another/,
    );
    await expect(objects.fetch("https://data.example.org/x")).rejects.toThrow(/ENOTFOUND data.example.org\.$/);
  });
});
