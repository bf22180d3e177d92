/** Checks the hosts of stores: those in private networks must have been named. */
import { lookup as lookUp } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { isBucket } from "../../../shared/addresses.js";
import { DataError } from "../../../shared/errors.js";

/** Networks that only the machine or its neighbours reach. Source: IANA special-purpose address registries. */
const PRIVATE: readonly (readonly [network: string, prefix: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["::1", 128],
  ["::", 128],
  ["fc00::", 7],
  ["fe80::", 10],
  ["64:ff9b:1::", 48],
];

/**
 * IPv6 networks whose addresses embed one of IPv4 after some bits: NAT64 (RFC 6052), 6to4 (RFC 3056) and the form
 * `::a.b.c.d` (RFC 4291, section 2.5.5.1). A gateway may route them to that address.
 */
const EMBEDDING: readonly (readonly [bits: number, address: (ipv4: string) => string])[] = [
  [96, (ipv4) => `64:ff9b::${ipv4}`],
  [96, (ipv4) => `::${ipv4}`],
  [16, (ipv4) => `2002:${words(ipv4)}::`],
];

function words(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split(".").map(Number);
  return [256 * a + b, 256 * c + d].map((word) => word.toString(16)).join(":");
}

export class Hosts {
  readonly #named = new Set<string>();
  readonly #private = new BlockList();
  readonly #resolve: LookupFunction;
  readonly #report: (address: string) => void;

  constructor(resolve: LookupFunction = lookUp as LookupFunction, report: (address: string) => void = () => undefined) {
    this.#resolve = resolve;
    this.#report = report;
    for (const [network, prefix] of PRIVATE) {
      this.#private.addSubnet(network, prefix, isIP(network) === 4 ? "ipv4" : "ipv6");
      for (const [bits, address] of isIP(network) === 4 ? EMBEDDING : [])
        this.#private.addSubnet(address(network), bits + prefix, "ipv6");
    }
  }

  allow(address: string): void {
    const host = hostOf(address);
    if (this.#named.has(host)) return;
    this.#named.add(host);
    this.#report(address);
  }

  /** @throws DataError for an address in a private network whose host was not named */
  async check(address: string): Promise<void> {
    const host = hostOf(address);
    if (this.#named.has(host) || isBucket(address)) return;
    const found = isIP(host) === 0 ? await this.#addressesOf(host) : [host];
    if (found.some((ip) => this.#isPrivate(ip)))
      throw new DataError(`${address} is in a private network; name it in FIELDPROBE_DATA to allow its host`);
  }

  /** Checks again on connecting: the name may resolve to a private address by now. */
  readonly lookup: LookupFunction = (host, options, done) => {
    this.#resolve(host, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      const isRefused = !error && !this.#named.has(host) && addresses.some((ip) => this.#isPrivate(ip));
      const refusal = `${host} is in a private network; name its address in FIELDPROBE_DATA to allow it`;
      if (isRefused) done(new DataError(refusal), []);
      else done(error, found, family);
    });
  };

  #isPrivate(ip: string): boolean {
    // The list also matches IPv4 addresses written as ::ffff:a.b.c.d.
    return this.#private.check(ip, isIP(ip) === 4 ? "ipv4" : "ipv6");
  }

  #addressesOf(host: string): Promise<string[]> {
    return new Promise((resolve) => {
      this.#resolve(host, { all: true }, (error, found) => {
        const isFound = !error && Array.isArray(found);
        resolve(isFound ? found.map(({ address }) => address) : []);
      });
    });
  }
}

/** @throws DataError for more than a host and a path: it would be logged, and a query is not sent */
function hostOf(address: string): string {
  const { hostname, username, password, search, hash } = new URL(address);
  if (username + password !== "") throw new DataError("an address with a user name or a password in it is refused");
  if (search + hash !== "") throw new DataError("an address with a query (?) or a fragment (#) in it is refused");
  return hostname.replace(/^\[|\]$/g, "");
}
