/** docs/sources.md lists each bound of what is read with its value and its setting, as the source has them. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ALL_SETTINGS } from "../../src/shared/config.js";
import { STORE_BOUNDS, STORE_DEFAULTS } from "../../src/shared/store-settings.js";
import { MAX_TEXT_BYTES } from "../../src/storage/catalog/remote-text.js";
import { FOLDER_DEPTH } from "../../src/storage/dataset/folder-names.js";
import { MOST_MEMBERS } from "../../src/storage/hdf5-bytes/groups.js";
import { MOST_ATTRIBUTES } from "../../src/storage/hdf5-bytes/structure.js";

const DOCUMENT = readFileSync(new URL("../../docs/sources.md", import.meta.url), "utf8");
const SECTION = DOCUMENT.slice(DOCUMENT.indexOf("\n## Bounds\n"), DOCUMENT.indexOf("\n## What has been tested\n"));
const ROWS = new Map(
  [...SECTION.matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]*) ?\|$/gm)].map(([, bound, value, setting]) => [
    bound as string,
    { value: value as string, setting: (setting as string).trim() },
  ]),
);
const MIB = 1024 * 1024;
const mib = (bytes: number): string => `${bytes / MIB} MiB`;
/** A number with spaces between thousands, if it has five digits. */
const plain = (n: number): string => (n < 10_000 ? `${n}` : `${n}`.replace(/\B(?=(\d{3})+$)/g, " "));

const {
  depth,
  values,
  nodes,
  attributes,
  members,
  pathLength,
  dimensions,
  shardChunks,
  readChunks,
  objects,
  references,
  targets,
  templateLength,
  expandedLength,
  pageBytes,
  listed,
  ...unlisted
} = STORE_BOUNDS;

it.each([
  ["bytes of all metadata documents", mib(STORE_DEFAULTS.metadataBytes), "STORE_METADATA_BYTES"],
  ["bytes of a list of references", mib(STORE_DEFAULTS.referencesBytes), "STORE_REFERENCES_BYTES"],
  ["bytes of a decoded chunk; decompression stops there", mib(STORE_DEFAULTS.chunkBytes), "STORE_CHUNK_BYTES"],
  ["time for an answer", `${STORE_DEFAULTS.timeoutMs / 1000} s`, "STORE_TIMEOUT_MS"],
  ["nesting of lists and objects in a document, and of groups", plain(depth), null],
  ["values in all documents", plain(values), null],
  ["groups and arrays", plain(nodes), null],
  ["attributes of a group or array", plain(attributes), null],
  ["members of an object in a metadata document", plain(members), null],
  ["characters of a path", plain(pathLength), null],
  ["dimensions", plain(dimensions), null],
  ["chunks of a shard", plain(shardChunks), null],
  ["chunks that one read touches", plain(readChunks), null],
  ["objects of a store in a folder", plain(objects), null],
  ["references of a list", plain(references), null],
  ["files that a list names", plain(targets), null],
  [
    "characters of a template, and of all references expanded",
    `${plain(templateLength)}, ${plain(expandedLength)}`,
    null,
  ],
  ["bytes of a page that lists objects", mib(pageBytes), null],
  ["objects that the pages of a folder list", plain(listed), null],
  ["levels of folders that are searched", plain(FOLDER_DEPTH), null],
  ["bytes of a descriptor, and of a manifest that a scan reads", mib(MAX_TEXT_BYTES), null],
  ["nesting of lists and objects in them", plain(depth), null],
  ["values in a descriptor", plain(values), null],
  ["members of all groups of an HDF5 file", plain(MOST_MEMBERS), null],
  ["attributes of an object of an HDF5 file", plain(MOST_ATTRIBUTES), null],
] as const)("%s", (bound, value, setting) => {
  const row = ROWS.get(bound);
  expect(row?.value.startsWith(value), `${row?.value} is ${value}`).toBe(true);
  expect(row?.setting).toBe(setting === null ? "" : `\`FIELDPROBE_${setting}\``);
  if (setting !== null) expect(ALL_SETTINGS.map(({ variable }) => variable)).toContain(setting);
});

it("lists every bound of stores", () => {
  expect(unlisted).toEqual({});
});
