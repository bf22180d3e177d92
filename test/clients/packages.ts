/** Which toolkits are here: installs what is missing where that may be done, else says why a toolkit is skipped. */
import { execFileSync, spawnSync } from "node:child_process";

export interface Toolkit {
  readonly name: string;
  readonly packages: readonly string[];
  /** A command that succeeds when it is here. */
  readonly probe: readonly [string, ...string[]];
}

const DEBIAN_PYTHON = "/usr/bin/python3";
export const PYTHON = DEBIAN_PYTHON;

export const TOOLKITS = {
  zeep: { name: "zeep", packages: ["python3-zeep"], probe: [DEBIAN_PYTHON, "-c", "import zeep"] },
  suds: { name: "suds", packages: ["python3-suds"], probe: [DEBIAN_PYTHON, "-c", "import suds"] },
  php: {
    name: "PHP SoapClient",
    packages: ["php-cli", "php-soap"],
    probe: ["php", "-r", "new ReflectionClass('SoapClient');"],
  },
  perl: { name: "SOAP::Lite", packages: ["libsoap-lite-perl"], probe: ["perl", "-MSOAP::Lite", "-e", "1"] },
  gsoap: {
    name: "gSOAP",
    packages: ["gsoap", "libgsoap-dev", "gcc", "libc6-dev"],
    probe: ["sh", "-c", "command -v wsdl2h soapcpp2 gcc && test -e /usr/include/stdsoap2.h"],
  },
} as const satisfies Record<string, Toolkit>;

const works = ({ probe: [command, ...words] }: Toolkit): boolean =>
  spawnSync(command, words, { stdio: "ignore" }).status === 0;

/** Null when the toolkit can be used, else the reason why not. */
export function missing(toolkit: Toolkit): string | null {
  if (works(toolkit)) return null;
  if (process.getuid?.() !== 0) return `${toolkit.packages.join(" ")} not installed, and only root may`;
  try {
    const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    execFileSync("apt-get", ["install", "-y", "--no-install-recommends", ...toolkit.packages], {
      stdio: "ignore",
      timeout: 240_000,
      env: environment,
    });
  } catch (error) {
    return `${toolkit.packages.join(" ")} could not be installed: ${error instanceof Error ? error.message : String(error)}`;
  }
  return works(toolkit) ? null : `${toolkit.packages.join(" ")} is installed but does not work`;
}
