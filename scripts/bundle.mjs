/**
 * Bundles the program and its worker threads, with the packages that they use, into few files in dist/bundle: Node
 * spends most of the time until a service is ready on finding, opening and linking a thousand small modules.
 *
 * Nothing is minified, so stack traces name functions. Packages with files of their own
 * beside their code, or native code, stay where they are. `bin/program.js` runs the bundle only while it is newer than
 * what it was made of.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const OUT = join(DIST, "bundle");

/** Files of dist that are run, by command line or thread, and their names in the bundle. */
const ENTRIES = new Map([
  ["cli/index.js", "cli"],
  ["engine/worker/worker.js", "engine-worker"],
  ["events/worker.js", "events-worker"],
  ["storage/remote/store-worker.js", "store-worker"],
  ["engine/cutouts/cutout-worker.js", "cutout-worker"],
]);

/** Packages that are not bundled, beside all that are required at run time by name. */
const LEFT = /^(libsql|piscina|thread-stream|soap|h5wasm-plugins|@foxglove\/wasm-bz2|@fastify\/swagger)(\/|$)/;

/** The path of a file of dist in the form of an address. */
const placeOf = (file) => relative(DIST, file).split(sep).join(posix.sep);

/** Lets own modules find their files and threads from the bundle: addresses relative to a module are rewritten. */
const addresses = {
  name: "addresses",
  transform(code, id) {
    if (!id.startsWith(DIST + sep) || !code.includes("import.meta.url")) return null;
    return code.replace(/new URL\("([^"]*)", import\.meta\.url\)|import\.meta\.url/g, (_, target) => {
      if (target === undefined) return `new URL("../${placeOf(id)}", import.meta.url).href`;
      const place = placeOf(join(dirname(id), target));
      const entry = ENTRIES.get(place);
      return `new URL("${entry === undefined ? `../${place}` : `./${entry}.js`}", import.meta.url)`;
    });
  },
};

/**
 * A build of the HDF5 library in WebAssembly, which its package carries as a text of four megabytes inside of a module.
 */
async function hdf5Binary(load) {
  const { instantiate } = WebAssembly;
  let binary = null;
  WebAssembly.instantiate = (bytes, ...rest) => {
    binary ??= bytes;
    return instantiate(bytes, ...rest);
  };
  await (await load()).ready;
  WebAssembly.instantiate = instantiate;
  return binary;
}

/**
 * Lets the HDF5 library read its WebAssembly from a file: to parse and decode the text takes half the time until it is
 * loaded.
 */
const hdf5 = {
  name: "hdf5",
  transform(code, id) {
    const [, build] = /[\\/]h5wasm[\\/]dist[\\/](node|esm)[\\/]hdf5_util\.js$/.exec(id) ?? [];
    if (build === undefined) return null;
    const start = code.indexOf("{return binaryDecode('");
    const end = code.indexOf("}function getBinarySync(file)");
    if (start < 0 || end < start)
      throw new Error("h5wasm keeps its WebAssembly elsewhere now: change scripts/bundle.mjs");
    const read = `import("node:fs").then((fs)=>fs.readFileSync(new URL("hdf5-${build}.wasm",import.meta.url)))`;
    return `${code.slice(0, start)}{return ${read}${code.slice(end)}`;
  },
};

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
writeFileSync(join(OUT, "hdf5-node.wasm"), await hdf5Binary(() => import("h5wasm/node")));
writeFileSync(join(OUT, "hdf5-esm.wasm"), await hdf5Binary(() => import("h5wasm")));
const bundle = await rolldown({
  input: Object.fromEntries([...ENTRIES].map(([file, name]) => [name, join(DIST, file)])),
  platform: "node",
  external: LEFT,
  plugins: [addresses, hdf5],
});
await bundle.write({
  dir: OUT,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  comments: { legal: true, annotation: false, jsdoc: false },
});
await bundle.close();
