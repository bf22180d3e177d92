/** Finds the toolkits here: installs what is missing where that may be done, else says why a toolkit is skipped. */
import { execFileSync, spawnSync } from "node:child_process";

export interface Toolkit {
  readonly name: string;
  readonly packages: readonly string[];
  readonly probe: readonly [string, ...string[]];
}

const DEBIAN_PYTHON = "/usr/bin/python3";
export const PYTHON = DEBIAN_PYTHON;
export const JARS = "/usr/share/java";
/** Not from Debian: npm puts it into the folder of the test, for it is no dependency of ours. */
export const STRONG_SOAP = "strong-soap@5.0.10";

const shell = (command: string): Toolkit["probe"] => ["sh", "-c", command];

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
    probe: shell("command -v wsdl2h soapcpp2 gcc && test -e /usr/include/stdsoap2.h"),
  },
  fortran: { name: "Fortran", packages: ["gfortran", "gcc", "libc6-dev"], probe: shell("command -v gfortran gcc") },
  jaxws: {
    name: "JAX-WS",
    packages: ["libjaxws-java", "default-jdk-headless"],
    probe: shell(`command -v java javac && test -e ${JARS}/jaxws-tools.jar`),
  },
  mono: { name: "Mono", packages: ["mono-devel", "mono-mcs"], probe: shell("command -v wsdl mcs mono") },
  strong: { name: "strong-soap", packages: [], probe: shell("command -v npm") },
  notebooks: {
    name: "Jupyter",
    packages: ["nbconvert", "ipykernel", "numpy", "matplotlib", "xarray", "netcdf4"].map((name) => `python3-${name}`),
    probe: [DEBIAN_PYTHON, "-c", "import nbconvert, ipykernel, numpy, matplotlib, xarray, netCDF4"],
  },
  zarr: {
    name: "xarray and zarr-python",
    packages: ["python3-xarray", "python3-zarr", "python3-dask", "python3-fsspec", "python3-aiohttp"],
    probe: [DEBIAN_PYTHON, "-c", "import xarray, zarr, dask.array, fsspec, aiohttp"],
  },
  formats: {
    name: "NumPy, xarray and h5netcdf",
    packages: ["python3-numpy", "python3-xarray", "python3-h5netcdf", "python3-netcdf4"],
    probe: [DEBIAN_PYTHON, "-c", "import numpy, xarray, h5netcdf, netCDF4"],
  },
  nginx: { name: "nginx", packages: ["nginx-light"], probe: shell("command -v nginx") },
  pytest: {
    name: "pytest",
    packages: ["python3-numpy", "python3-pytest", "python3-setuptools", "python3-wheel", "python3-venv", "python3-pip"],
    probe: [DEBIAN_PYTHON, "-c", "import numpy, pytest, setuptools, wheel, venv, pip, ensurepip"],
  },
  octave: { name: "Octave", packages: ["octave", "curl"], probe: shell("command -v octave-cli curl") },
} as const satisfies Record<string, Toolkit>;

const works = ({ probe: [command, ...words] }: Toolkit): boolean =>
  spawnSync(command, words, { stdio: "ignore" }).status === 0;

function apt(...words: readonly string[]): void {
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("apt-get", words, { stdio: "ignore", timeout: 240_000, env: environment });
}

/** Null when the toolkit can be used, else the reason why not. */
export function missing(toolkit: Toolkit): string | null {
  if (works(toolkit)) return null;
  const packages = toolkit.packages.join(" ");
  if (process.getuid?.() !== 0) return `${packages} not installed, and only root may`;
  try {
    apt("update");
    apt("install", "-y", "--no-install-recommends", ...toolkit.packages);
  } catch (error) {
    return `${packages} could not be installed: ${error instanceof Error ? error.message : String(error)}`;
  }
  return works(toolkit) ? null : `${packages} is installed but does not work`;
}
