/**
 * Bundles the program and its worker threads, with the packages that they use, into few files in dist/bundle: Node spends most of the time
 * until a service is ready on finding, opening and linking a thousand small modules.
 *
 * Nothing is minified, so stack traces name functions, and comments name the modules. Packages with files of their own beside their code,
 * or native code, stay where they are. `bin/program.js` runs the bundle only while it is newer than what it was made of.
 */
import { rmSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const OUT = join(DIST, "bundle");

/** Files of dist that are run, by command line or thread, and their names in the bundle. */
const ENTRIES = new Map([
  ["cli/index.js", "cli"],
  ["engine/threads/worker.js", "engine-worker"],
  ["events/worker.js", "events-worker"],
  ["storage/zarr/store-worker.js", "store-worker"],
  ["server/rest/cutout-worker.js", "cutout-worker"],
]);

/** Packages that are not bundled, beside all that are required at run time by name. */
const LEFT = /^(libsql|piscina|thread-stream|soap|h5wasm(-plugins)?|@fastify\/(swagger|swagger-ui))(\/|$)/;

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

rmSync(OUT, { recursive: true, force: true });
const bundle = await rolldown({
  input: Object.fromEntries([...ENTRIES].map(([file, name]) => [name, join(DIST, file)])),
  platform: "node",
  external: LEFT,
  plugins: [addresses],
});
await bundle.write({
  dir: OUT,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  comments: { legal: true },
});
await bundle.close();
