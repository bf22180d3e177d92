/** The HDF5 library of Node with its plugins, by which tests write files and compare what is read, and the service's own. */
import { fileURLToPath } from "node:url";
import { h5wasm, Module } from "h5wasm/node";
import { loadHdf5 } from "../../src/storage/hdf5/library.js";

await h5wasm.ready;
await loadHdf5();
Module.activate_throwing_error_handler();
Module.insert_plugin_search_path(
  fileURLToPath(new URL("../../node_modules/h5wasm-plugins/plugins", import.meta.url)),
  0,
);
