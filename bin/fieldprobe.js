#!/usr/bin/env node
// Old versions of Node read this file too, so that they can be told apart before anything else is loaded.
import { readFileSync } from "node:fs";
import * as loader from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { programIn } from "./program.js";

var needed = [20, 19];
var version = process.versions.node.split(".").map(Number);
var program = programIn(fileURLToPath(new URL("../dist", import.meta.url)));

/** How many files the system lets the process open; the loader opens hundreds of modules at once. */
function mostFiles() {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))[1]);
  } catch (_) {
    return Number.POSITIVE_INFINITY;
  }
}

function refuse(message) {
  console.error(`fieldprobe: ${message}`);
  process.exitCode = 1;
}

if (version[0] < needed[0] || (version[0] === needed[0] && version[1] < needed[1])) {
  refuse(`Node ${needed.join(".")} or later is needed, this is ${process.versions.node}`);
} else if (program === null) {
  refuse(`the program has not been built: run \`npm ci\` in ${fileURLToPath(new URL("..", import.meta.url))}`);
} else {
  // From Node 22.1 on: compiled code is kept beside the bundle, unless the folder cannot be written.
  if (loader.enableCompileCache !== undefined)
    loader.enableCompileCache(fileURLToPath(new URL("../dist/bundle/compiled", import.meta.url)));
  if (mostFiles() < 512 && loader.register !== undefined) loader.register(new URL("few-files.js", import.meta.url));
  import(pathToFileURL(program).href).catch((error) => {
    if (error.code === "EMFILE") return refuse(`the system lets it open ${mostFiles()} files, which is too few`);
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    refuse(`a package is missing: run \`npm ci\` in ${fileURLToPath(new URL("..", import.meta.url))}`);
  });
}
