/** Checks the hosts of stores: those in private networks must have been named. */
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { DataError } from "../../errors.js";

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
];

/** Refuses hosts of private networks that nobody has named. */
export class Hosts {
  readonly #named = new Set<string>();
  readonly #private = new BlockList();

  constructor() {
    for (const [network, prefix] of PRIVATE)
      this.#private.addSubnet(network, prefix, isIP(network) === 4 ? "ipv4" : "ipv6");
  }

  /** Takes the host of an address from the settings or the command line as one that is meant. */
  name(address: string): void {
    this.#named.add(hostOf(address));
  }

  /** @throws DataError when the address leads into a private network and its host was not named */
  async check(address: string): Promise<void> {
    const host = hostOf(address);
    if (this.#named.has(host) || address.startsWith("s3:")) return;
    const found = isIP(host) === 0 ? await addressesOf(host) : [host];
    // The list knows the IPv4 addresses inside of IPv6 ones as well.
    if (found.some((ip) => this.#private.check(ip, isIP(ip) === 4 ? "ipv4" : "ipv6")))
      throw new DataError(`${address} is in a private network; name it in FIELDPROBE_DATA to allow its host`);
  }
}

/** @throws DataError for an address with more than a host and a path: it would be logged, and a query is not sent */
function hostOf(address: string): string {
  const { hostname, username, password, search, hash } = new URL(address);
  if (username + password !== "") throw new DataError("an address with a user name or a password in it is refused");
  if (search + hash !== "") throw new DataError("an address with a query (?) or a fragment (#) in it is refused");
  return hostname.replace(/^\[|\]$/g, "");
}

/** Addresses of a host; none where it is unknown, which the request will say. */
async function addressesOf(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}
