import { writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSqlQueue } from "../../src/jobs/sql-queue.js";
import { openConnection } from "../../src/shared/sqlite.js";
import { eachScratchFolder } from "../support/scratch.js";
import { checkQueue } from "./check-queue.js";

let folder = "";
eachScratchFolder((made) => {
  folder = made;
});

checkQueue(() => openSqlQueue(join(folder, "jobs.db")));

it("says in one line that its file is no database", () => {
  const file = join(folder, "jobs.db");
  writeFileSync(file, "no database ".repeat(1000));
  expect(() => openSqlQueue(file)).toThrow(/^jobs: cannot open the store .*jobs\.db: file is not a database/);
});

it("refuses a file of a later version", () => {
  const file = join(folder, "jobs.db");
  const db = openConnection(file, "write");
  db.exec("PRAGMA user_version = 99");
  db.close();
  expect(() => openSqlQueue(file)).toThrow(/jobs\.db was written by a later version of fieldprobe$/);
});

it("says in one line that its file is damaged", async () => {
  const file = join(folder, "jobs.db");
  await openSqlQueue(file).close();
  const db = openConnection(file, "write");
  db.exec("PRAGMA writable_schema = ON");
  db.exec("UPDATE sqlite_schema SET rootpage = 77 WHERE name = 'task'");
  db.close();
  expect(() => openSqlQueue(file)).toThrow(/^jobs: cannot open the store .*jobs\.db.*malformed/);
});

it("is refused while another process uses it, and taken over from one that has ended", async () => {
  const file = join(folder, "jobs.db");
  writeFileSync(`${file}.pid`, `${process.ppid} ${hostname()}\n`);
  expect(() => openSqlQueue(file)).toThrow(
    /^jobs: process \d+ uses .*jobs\.db; each process needs its own FIELDPROBE_STATE/,
  );
  writeFileSync(`${file}.pid`, `999999999 ${hostname()}\n`);
  await openSqlQueue(file).close();
});
