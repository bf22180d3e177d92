/** The queue of jobs in an SQLite file, for one process. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { DataError } from "../shared/errors.js";
import { openConnection, type SqlRow, type StoreConnection } from "../shared/sqlite.js";
import { type Job, type JobState, type TaskOutput, UNFINISHED } from "./job.js";
import { extended, type GenerationFor, goesOn, type JobQueue, OF_JOB, restarted, type TakenTask } from "./job-queue.js";

const VERSION = 1;

const TABLES = `
  CREATE TABLE job (id TEXT PRIMARY KEY, owner TEXT, state TEXT NOT NULL, created REAL NOT NULL, spent REAL NOT NULL,
    tasks INTEGER NOT NULL, waits INTEGER NOT NULL, document TEXT NOT NULL);
  CREATE TABLE task (job TEXT NOT NULL REFERENCES job (id) ON DELETE CASCADE, number INTEGER NOT NULL,
    state TEXT NOT NULL, attempts INTEGER NOT NULL, output TEXT, PRIMARY KEY (job, number)) WITHOUT ROWID;
  CREATE INDEX task_state ON task (job, state, number);
  PRAGMA user_version = ${VERSION};`;

const UNFINISHED_JOBS = "SELECT document FROM job WHERE state IN ('queued', 'running') ORDER BY spent, created";

/** The next task of a job; `waits` are its tasks that compute and are not done. */
const NEXT = `
  SELECT t.number, t.attempts FROM job j JOIN task t ON t.job = j.id AND t.state = 'waiting'
  WHERE j.id = ? AND (t.number < j.tasks OR j.waits = 0) ORDER BY t.number LIMIT 1`;

/**
 * Opens the queue, making its file when missing. Tasks that a process had taken when it died are to be taken again.
 *
 * @throws DataError in one line if the file is damaged, of a later version, or used by another process of this machine
 */
export function openSqlQueue(file: string): JobQueue {
  const db = openConnection(file, "write", "jobs");
  try {
    claim(file);
    const version = Number(db.first("PRAGMA user_version")?.[0]);
    if (version > VERSION) throw new DataError(`${file} was written by a later version of fieldprobe`);
    db.transaction("write", () => {
      if (version === 0) db.exec(TABLES);
      db.run("UPDATE task SET state = 'waiting' WHERE state = 'taken'");
    });
    const [[health] = [""]] = db.all("PRAGMA quick_check(1)");
    if (health !== "ok") throw new DataError(`${file} is damaged: ${String(health)}`);
  } catch (error) {
    db.close();
    if (error instanceof DataError) throw error;
    throw new DataError(`jobs: cannot open the store ${file}: ${(error as Error).message}`, error);
  }
  return new SqlQueue(db);
}

/** Claims a file for this process: another process would take the same tasks. Throws DataError if one is running. */
function claim(file: string): void {
  const note = `${file}.pid`;
  const [pid = "", host] = existsSync(note) ? readFileSync(note, "utf8").trim().split(" ") : [];
  if (host === hostname() && Number(pid) !== process.pid && isAlive(Number(pid)))
    throw new DataError(`jobs: process ${pid} uses ${file}; each process needs its own FIELDPROBE_STATE`);
  writeFileSync(note, `${process.pid} ${hostname()}\n`);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const jobOf = (row: SqlRow): Job => JSON.parse(String(row[0])) as Job;

class SqlQueue implements JobQueue {
  readonly #db: StoreConnection;

  constructor(db: StoreConnection) {
    this.#db = db;
  }

  async add(job: Job): Promise<void> {
    const { id, owner, state, createdAt, spentMs, tasks } = job;
    this.#db.transaction("write", () => {
      const cells = [id, owner, state, createdAt, spentMs, tasks, tasks, JSON.stringify(job)];
      this.#db.run("INSERT INTO job VALUES (?, ?, ?, ?, ?, ?, ?, ?)", cells);
      this.#addTasks(id, 0, tasks);
    });
  }

  #addTasks(id: string, from: number, to: number): void {
    for (let number = from; number <= to; number++)
      this.#db.run("INSERT INTO task VALUES (?, ?, 'waiting', 0, NULL)", [id, number]);
  }

  async find(id: string): Promise<Job | null> {
    return this.#find(id);
  }

  #find(id: string): Job | null {
    const row = this.#db.first("SELECT document FROM job WHERE id = ?", [id]);
    return row === undefined ? null : jobOf(row);
  }

  async list(owner?: string | null): Promise<readonly Job[]> {
    const all = "SELECT document FROM job";
    const rows =
      owner === undefined ? this.#db.all(all) : this.#db.all(`${all} WHERE owner IS ? ORDER BY created DESC`, [owner]);
    return rows.map(jobOf);
  }

  async count(states: readonly JobState[], owner?: string | null): Promise<number> {
    const sql = `SELECT count(*) FROM job WHERE state IN (${states.map(() => "?").join()})`;
    const [found] =
      owner === undefined ? this.#db.all(sql, states) : this.#db.all(`${sql} AND owner IS ?`, [...states, owner]);
    return Number(found?.[0]);
  }

  async change(id: string, from: readonly JobState[], changes: Partial<Job>): Promise<Job | null> {
    return this.#db.transaction("write", () => this.#change(id, from, changes));
  }

  #change(id: string, from: readonly JobState[], changes: Partial<Job>): Job | null {
    const job = this.#find(id);
    if (job === null || !from.includes(job.state)) return null;
    const changed = { ...job, ...changes };
    const cells = [changed.state, changed.spentMs, JSON.stringify(changed), id];
    this.#db.run("UPDATE job SET state = ?, spent = ?, document = ? WHERE id = ?", cells);
    return changed;
  }

  async take(generationFor: GenerationFor = OF_JOB): Promise<TakenTask | null> {
    return this.#db.transaction("write", () => {
      for (const row of this.#db.all(UNFINISHED_JOBS)) {
        const waiting = jobOf(row);
        const generation = generationFor(waiting);
        if (generation === null) continue;
        if (generation !== OF_JOB(waiting)) this.#restart(waiting, generation);
        const next = this.#db.first(NEXT, [waiting.id]);
        if (next === undefined) continue;
        const startedAt = waiting.startedAt ?? Date.now();
        const job = this.#change(waiting.id, UNFINISHED, { state: "running", startedAt }) as Job;
        const [number, attempts] = next.map(Number) as [number, number];
        this.#mark(job.id, number, "taken");
        return { job, number, attempts };
      }
      return null;
    });
  }

  /** Restarts the tasks of a job under another generation. */
  #restart(job: Job, generation: string): void {
    this.#db.run("UPDATE task SET state = 'waiting', attempts = 0, output = NULL WHERE job = ?", [job.id]);
    this.#count(job.id);
    this.#change(job.id, UNFINISHED, restarted(job, generation));
  }

  #mark(id: string, number: number, state: string): void {
    this.#db.run("UPDATE task SET state = ?, output = NULL WHERE job = ? AND number = ?", [state, id, number]);
  }

  async done({ job: taken, number }: TakenTask, output: TaskOutput): Promise<Job | null> {
    const { id } = taken;
    return this.#db.transaction("write", () => {
      const before = this.#find(id);
      if (before === null || !goesOn(before, taken)) return null;
      if (this.#isDone(id, number)) return before;
      const cells = [JSON.stringify(output), id, number];
      this.#db.run("UPDATE task SET state = 'done', output = ? WHERE job = ? AND number = ?", cells);
      this.#count(id);
      const { doneTasks, spentMs } = before;
      return this.#change(id, ["running"], { doneTasks: doneTasks + 1, spentMs: spentMs + output.ms });
    });
  }

  #isDone(id: string, number: number): boolean {
    return this.#db.first("SELECT state FROM task WHERE job = ? AND number = ?", [id, number])?.[0] === "done";
  }

  #count(id: string): void {
    const waiting = "SELECT count(*) FROM task t WHERE t.job = job.id AND t.number < job.tasks AND t.state <> 'done'";
    this.#db.run(`UPDATE job SET waits = (${waiting}) WHERE id = ?`, [id]);
  }

  async putBack({ job: { id }, number }: TakenTask, failed = false): Promise<void> {
    const sql =
      "UPDATE task SET state = 'waiting', attempts = attempts + ? WHERE job = ? AND number = ? AND state = 'taken'";
    this.#db.run(sql, [failed ? 1 : 0, id, number]);
  }

  async redo(before: Job, numbers: readonly number[]): Promise<void> {
    const { id } = before;
    this.#db.transaction("write", () => {
      const job = this.#find(id);
      if (job === null || !goesOn(job, before)) return;
      const lost = numbers.filter((number) => this.#isDone(id, number));
      for (const number of lost) this.#mark(id, number, "waiting");
      this.#count(id);
      this.#change(id, UNFINISHED, { doneTasks: job.doneTasks - lost.length });
    });
  }

  async extend({ job: before, number }: TakenTask): Promise<void> {
    const { id } = before;
    this.#db.transaction("write", () => {
      const job = this.#find(id);
      if (job === null || !goesOn(job, before)) return;
      const changes = extended(job);
      this.#db.run("UPDATE job SET tasks = ? WHERE id = ?", [changes.tasks, id]);
      this.#mark(id, number, "waiting");
      this.#addTasks(id, number + 1, changes.tasks);
      this.#count(id);
      this.#change(id, UNFINISHED, changes);
    });
  }

  async outputs(id: string): Promise<readonly (TaskOutput | null)[]> {
    const sql =
      "SELECT t.output FROM job j JOIN task t ON t.job = j.id AND t.number < j.tasks WHERE j.id = ? ORDER BY t.number";
    return this.#db
      .all(sql, [id])
      .map(([output]) => (output === null ? null : (JSON.parse(String(output)) as TaskOutput)));
  }

  async remove(id: string): Promise<void> {
    this.#db.run("DELETE FROM job WHERE id = ?", [id]);
  }

  async close(): Promise<void> {
    this.#db.close();
  }
}
