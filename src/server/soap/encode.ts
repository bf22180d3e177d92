/** Encodes results in chunks, formatted as by ASP.NET, on which JHTDB's original server ran. */
import type { Result } from "../../engine/contract/query.js";
import { type OperationRow, RECORDS } from "../../shared/operations.js";
import { recordBytes, textModule } from "../../text/text-module.js";
import type { RecordForm, TextWorkers } from "../../text/text-task.js";
import { writtenRecords } from "../../text/written-records.js";
import { ENVELOPE_NAMESPACE } from "./envelope.js";
import type { SoapVersion } from "./media-type.js";
import { escapeText } from "./xml/writer.js";

const CHUNK_BYTES = 64 * 1024;
const BASE64_BYTES = (CHUNK_BYTES / 4) * 3;

interface Template {
  readonly head: Buffer;
  readonly form: RecordForm;
  readonly tail: Buffer;
  readonly itemBytes: number;
}

/** Encoder with one template per operation and version. */
export class ResponseEncoder {
  readonly #namespace: string;
  readonly #templates = new Map<string, Template>();

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** Encodes a response in chunks, a short one in one. The result is read only while a chunk is being made. */
  *encode(row: OperationRow, version: SoapVersion, result: Result): Generator<Buffer, undefined> {
    const template = this.#template(row, version);
    const components = template.form.separators.length - 1;
    // Array forms write each number as a record.
    const items = components === 1 ? result.items * result.components : result.items;
    let chunk = allocate(template, items);
    let at = template.head.copy(chunk);
    for (const values of result.values) {
      for (let i = 0; i < values.length; ) {
        const room = Math.floor((chunk.length - at) / template.itemBytes);
        if (room < 1) {
          yield chunk.subarray(0, at);
          chunk = allocate(template, items);
          at = 0;
          continue;
        }
        const end = Math.min(values.length, i + room * components);
        at = textModule().write([values.subarray(i, end)], template.form, chunk, at);
        i = end;
      }
    }
    if (at + template.tail.length > chunk.length) {
      yield chunk.subarray(0, at);
      chunk = allocate(template, 0);
      at = 0;
    }
    yield chunk.subarray(0, at + template.tail.copy(chunk, at));
  }

  /** Encodes a large response on the worker threads; each chunk is valid until the next one is requested. */
  async *encodeInThreads(
    row: OperationRow,
    version: SoapVersion,
    result: Result,
    textThreads: TextWorkers,
    onEncodeTime: (ms: number) => void,
  ): AsyncGenerator<Buffer, undefined> {
    const { head, form, tail } = this.#template(row, version);
    yield head;
    yield* writtenRecords(result.values, form, textThreads, onEncodeTime);
    yield tail;
  }

  /** Encodes streamed parts as base64 of little-endian float32. */
  async *encodeBytes(
    row: OperationRow,
    version: SoapVersion,
    parts: AsyncIterable<Float32Array>,
  ): AsyncGenerator<Buffer, undefined> {
    const { head, tail } = this.#template(row, version);
    yield head;
    // Bytes that do not yet fill a group of three.
    let rest = Buffer.alloc(0);
    for await (const part of parts) {
      const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      for (let at = 0; at < bytes.length; ) {
        const end = at + BASE64_BYTES - rest.length;
        const joined = Buffer.concat([rest, bytes.subarray(at, end)]);
        at = end;
        const whole = joined.length - (joined.length % 3);
        rest = joined.subarray(whole);
        if (whole > 0) yield Buffer.from(joined.toString("base64", 0, whole), "latin1");
      }
    }
    yield Buffer.concat([Buffer.from(rest.toString("base64"), "latin1"), tail]);
  }

  #template(row: OperationRow, version: SoapVersion): Template {
    const key = `${version} ${row.name}`;
    const known = this.#templates.get(key);
    if (known !== undefined) return known;
    const made = makeTemplate(row, version, this.#namespace);
    this.#templates.set(key, made);
    return made;
  }
}

export function envelopeStart(version: SoapVersion): string {
  return (
    `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="${ENVELOPE_NAMESPACE[version]}"` +
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">'
  );
}

function makeTemplate(row: OperationRow, version: SoapVersion, namespace: string): Template {
  const { wire, result } = row;
  const head = `${envelopeStart(version)}<soap:Body><${wire}Response xmlns="${escapeText(namespace)}"><${wire}Result>`;
  const tail = `</${wire}Result></${wire}Response></soap:Body></soap:Envelope>`;
  const components: readonly string[] = RECORDS[result];
  const separators =
    result === "float"
      ? ["<float>", "</float>"]
      : result === "base64"
        ? ["", ""]
        : [
            `<${result}><${components[0]}>`,
            ...components.slice(1).map((component, i) => `</${components[i]}><${component}>`),
            `</${components.at(-1)}></${result}>`,
          ];
  const form = { separators, notFinite: null };
  return { head: Buffer.from(head), form, tail: Buffer.from(tail), itemBytes: recordBytes(form) };
}

/** Allocates a chunk: small answers do not need 64 KiB. */
function allocate(template: Template, items: number): Buffer {
  const needed = template.head.length + items * template.itemBytes + template.tail.length;
  return Buffer.allocUnsafe(Math.min(CHUNK_BYTES, needed));
}
