/** Every file of the source is named in the map or in the README.md of a room, and what they name exists. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, sourceFiles } from "../support/source-graph.js";

const SRC = join(ROOT, "src");
const FILES = sourceFiles("src");
/** A room with more files has a README.md of its own, as each room directly below src has. */
const MOST_FILES = 8;
/** So many lines fit on a screen; a README says what a room is for, and its files say the rest. */
const MOST_LINES = 32;

const folders = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => posix.relative(SRC, posix.join(entry.parentPath, entry.name)))
  .filter((folder) => FILES.some((file) => file.startsWith(`${folder}/`)));
const needing = folders.filter(
  (folder) => !folder.includes("/") || FILES.filter((file) => posix.dirname(file) === folder).length > MOST_FILES,
);
const readmes = folders.filter((folder) => existsSync(join(SRC, folder, "README.md")));
const textOf = (folder: string) => readFileSync(join(SRC, folder, "README.md"), "utf8");

/** Files that a text names, as paths below src; a README names those of its room relative to it. */
const named = (text: string, room = "") =>
  [...text.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, path]) => posix.join(room, path as string));

describe("README.md of rooms", () => {
  it("is there for each room directly below src, and for those of many files", () => {
    expect(needing.filter((folder) => !readmes.includes(folder))).toEqual([]);
  });

  it.each(readmes)("%s says what the room is for and how to test it, and is short", (room) => {
    const text = textOf(room);
    expect(text).toMatch(/^# \S.*\n\n\S/);
    expect(text).toMatch(/`(npx vitest run|npm run test)/);
    expect(text.split("\n").length).toBeLessThanOrEqual(MOST_LINES);
  });

  it.each(readmes)("%s names tests that exist", (room) => {
    const paths = [...textOf(room).matchAll(/npx vitest run (?:--project (\w+))?((?: test\/[\w./-]+)*)/g)].flatMap(
      ([, project, files]) => [
        ...(project === undefined || project === "house" ? [] : [`test/${project}`]),
        ...(files ?? "").split(" ").filter((path) => path !== ""),
      ],
    );
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe("the map and the README.md of rooms", () => {
  const map = named(readFileSync(join(ROOT, "docs/architecture.md"), "utf8"));
  const inRooms = readmes.flatMap((room) => named(textOf(room), room));

  it("name every file of the source", () => {
    const known = new Set([...map, ...inRooms]);
    expect(FILES.filter((file) => !known.has(file))).toEqual([]);
  });

  it("name files that exist", () => {
    const lost = readmes.flatMap((room) =>
      named(textOf(room), room).filter((file) => {
        const relative = posix.relative(room, file);
        return ![file, relative].some((path) => existsSync(join(SRC, path)) || existsSync(join(ROOT, path)));
      }),
    );
    expect(lost).toEqual([]);
  });
});
