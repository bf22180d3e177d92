/** The HDF5 library of Node with its plugins, by which tests write files and compare what is read. */
import { fileURLToPath } from "node:url";
import { h5wasm, Module } from "h5wasm/node";
import { base_url } from "h5wasm-plugins";

await h5wasm.ready;
Module.activate_throwing_error_handler();
Module.insert_plugin_search_path(fileURLToPath(`${base_url}/plugins`), 0);
