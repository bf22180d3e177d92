/** Reads files part by part as they are sent: readers that wait hold no file open. */
import { type FileHandle, open } from "node:fs/promises";
import { DataError } from "../../shared/errors.js";

const PART_BYTES = 512 * 1024;
const MAX_OPEN = 16;

export class FileParts {
  #open = 0;
  readonly #waiting: (() => void)[] = [];

  get open(): number {
    return this.#open;
  }

  /** @throws DataError if the file is replaced or changed meanwhile, or the error of the system */
  async *read(path: string, first: number, last: number): AsyncGenerator<Buffer> {
    let known: string | null = null;
    for (let at = first; at <= last; at += PART_BYTES) {
      const length = Math.min(PART_BYTES, last + 1 - at);
      yield await this.#whileOpen(path, async (file) => {
        const { ino, size, mtimeMs } = await file.stat();
        const stamp = `${ino} ${size} ${mtimeMs}`;
        const bytes = Buffer.allocUnsafe(length);
        const { bytesRead } = await file.read(bytes, 0, length, at);
        if (bytesRead < length || (known !== null && stamp !== known))
          throw new DataError(`${path} changed while it was sent`);
        known = stamp;
        return bytes;
      });
    }
  }

  async #whileOpen<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
    if (this.#open >= MAX_OPEN) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#open++;
    try {
      const file = await open(path, "r");
      try {
        return await use(file);
      } finally {
        await file.close();
      }
    } finally {
      // Passes the turn on to the next reader.
      const next = this.#waiting.shift();
      if (next === undefined) this.#open--;
      else next();
    }
  }
}
