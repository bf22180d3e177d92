/** Decodes the element of an operation by its table row: scalars first, then points straight into slabs. */
import type { Evaluation, Query, TripleSink } from "../../engine/contract/query.js";
import { excerpt, type RequestError } from "../../shared/errors.js";
import {
  type OperationRow,
  operationsOnWire,
  SPATIAL_INTERPOLATION,
  TEMPORAL_INTERPOLATION,
  type WireMember,
} from "../../shared/operations.js";
import type { Steps } from "../../text/steps.js";
import { readFloat, readInt } from "../http/read-number.js";
import type { PointLimit } from "../http/request-life.js";
import { queryOf, readLists, requestedFunction, writePoints } from "./array-forms.js";
import { type ItemArray, readItems } from "./items.js";
import { checkAttributes, collapsed, invalid, type RequestDialect, readText, schemaType } from "./simple-members.js";
import { END, type XmlReader } from "./xml/reader.js";

const ENUMERATIONS: Readonly<Record<"SpatialInterpolation" | "TemporalInterpolation", readonly string[]>> = {
  SpatialInterpolation: SPATIAL_INTERPOLATION,
  TemporalInterpolation: TEMPORAL_INTERPOLATION,
};

export interface DecodedOperation {
  readonly row: OperationRow;
  readonly evaluation: Evaluation;
}

interface DecodeContext extends RequestDialect {
  /** Checks the token; null means none. */
  authorise(token: string | null): void;
  /** Most points of requests with lists of numbers (`GetData_Python`, ...), which keep all points until the end of the request. */
  readonly mostPoints: number;
  /** Begins the evaluation, before the first point is read. */
  start(query: Query): Evaluation;
  /** The lower of the limit of the operation and that of the caller. */
  limit(own: PointLimit): PointLimit;
  /** Counts decoded points, possibly none; a promise if reading has to wait. */
  countPoints(points: number): Promise<void> | null;
  /** Bytes still to come, as the request states them; absent: no threads read the points. */
  readonly remaining?: () => number;
}

/** The operations that a body element may mean: they share a name and differ in their members. */
export function requestedOperations(namespace: string, reader: XmlReader): readonly OperationRow[] {
  return reader.namespace === namespace ? operationsOnWire(reader.local) : [];
}

/** Decodes an operation element by the first row whose members fit. */
export function decode(
  reader: XmlReader,
  rows: readonly OperationRow[],
  context: DecodeContext,
): Steps<DecodedOperation> {
  return new OperationDecoder(reader, rows, context).run();
}

type MutableQuery = { -readonly [K in keyof Query]: Query[K] };

class OperationDecoder {
  readonly #reader: XmlReader;
  readonly #rows: readonly OperationRow[];
  #row: OperationRow;
  readonly #context: DecodeContext;
  readonly #query: MutableQuery;
  /** Index of the next member; the number of members + 1 once `addr` has been read. */
  #cursor = 0;
  #authorised = false;
  #evaluation: Evaluation | null = null;
  #pointLists: readonly Float32Array[] = [];

  constructor(reader: XmlReader, rows: readonly OperationRow[], context: DecodeContext) {
    const [row] = rows as [OperationRow];
    this.#reader = reader;
    this.#rows = rows;
    this.#row = row;
    this.#context = context;
    this.#query = { operation: row.name };
  }

  *run(): Steps<DecodedOperation> {
    checkAttributes(this.#reader, this.#context.version, this.#row.wire);
    const strayTextError = (): RequestError => invalid(`There is text between the members of ${this.#row.wire}.`);
    for (;;) {
      const event = yield* this.#reader.nextTag(strayTextError);
      if (event === END) break;
      yield* this.#readMember();
    }
    this.#checkSkipped(this.#row.request.length, "the end of the request");
    const evaluation = this.#startOnce();
    writePoints(this.#pointLists, evaluation.points);
    return { row: this.#row, evaluation };
  }

  *#readMember(): Steps<void> {
    const { local, namespace } = this.#reader;
    const isInNamespace = namespace === this.#context.namespace;
    if (isInNamespace) this.#switchOverload(local);
    const members = this.#row.request;
    const index = isInNamespace ? members.findIndex((member) => member.name === local) : -1;
    // An unauthorised caller gets the error of its token, not that of an unknown member.
    if (index < 0) this.#authorise(null);
    const member = members[index];
    if (member === undefined) return yield* this.#unknownMember();
    if (index < this.#cursor) throw invalid(`The member ${local} is repeated or out of order.`, local);
    this.#checkSkipped(index, local);
    this.#cursor = index + 1;
    checkAttributes(this.#reader, this.#context.version, local, this.#typeName(member));
    if (member.type === "ArrayOfArrayOfFloat") {
      const { points } = this.#context.limit({ points: this.#context.mostPoints, name: "query.points" });
      this.#pointLists = yield* readLists(this.#reader, this.#context, points);
    } else if (member.type === "ArrayOfPoint3") {
      yield* this.#readItems("Point3", member.name, this.#startOnce().points, (count) =>
        this.#context.countPoints(count),
      );
    } else if (member.type === "ArrayOfVector3") {
      yield* this.#readItems("Vector3", member.name, this.#startOnce().velocities, () => this.#context.countPoints(0));
    } else this.#readScalar(member, yield* readText(this.#reader, local));
  }

  /** Switches to another operation of the same name if only that one has the next member. */
  #switchOverload(local: string): void {
    const mayContinue = ({ request }: OperationRow): boolean => {
      const left = request.slice(this.#cursor);
      const at = left.findIndex(({ name }) => name === local);
      return at >= 0 && left.slice(0, at).every(({ required }) => !required);
    };
    if (this.#rows.length === 1 || mayContinue(this.#row)) return;
    const other = this.#rows.find(
      (row) =>
        mayContinue(row) &&
        row.request.slice(0, this.#cursor).every(({ name }, i) => name === this.#row.request[i]?.name),
    );
    if (other === undefined || this.#evaluation !== null) return;
    this.#row = other;
    this.#query.operation = other.name;
  }

  /** Reads the trailing `addr` of later clients, which may be nil; refuses every other name. */
  *#unknownMember(): Steps<void> {
    const { local, namespace } = this.#reader;
    const isAddr = this.#row.addr && local === "addr" && namespace === this.#context.namespace;
    if (!isAddr || this.#cursor > this.#row.request.length) {
      const name = excerpt(local);
      throw invalid(`The member ${name} is unknown to ${this.#row.wire}, repeated or out of order.`, name);
    }
    this.#checkSkipped(this.#row.request.length, local);
    this.#cursor = this.#row.request.length + 1;
    checkAttributes(this.#reader, this.#context.version, local, schemaType("string"), "nillable");
    yield* readText(this.#reader, local);
  }

  /** Refuses to skip a required member before `index`; authorises without a token if the token is skipped. */
  #checkSkipped(index: number, before: string): void {
    // The token is first, or after the function name in array forms.
    if (index > this.#row.request.findIndex(({ name }) => name === "authToken")) this.#authorise(null);
    for (let i = this.#cursor; i < index; i++) {
      const member = this.#row.request[i];
      if (member.required) throw invalid(`The member ${member.name} is missing before ${before}.`, member.name);
    }
  }

  #authorise(token: string | null): void {
    if (this.#authorised) return;
    this.#authorised = true;
    this.#context.authorise(token);
  }

  #startOnce(): Evaluation {
    if (this.#evaluation !== null) return this.#evaluation;
    const members = this.#query as Readonly<Record<string, unknown>>;
    const query =
      this.#row.family === "arrays"
        ? queryOf(requestedFunction(this.#row, members.function_name as string | undefined), members)
        : this.#query;
    this.#evaluation = this.#context.start(query);
    return this.#evaluation;
  }

  #typeName(member: WireMember): string {
    const simple = member.type === "string" || member.type === "float" || member.type === "int";
    return simple ? schemaType(member.type) : `{${this.#context.namespace}}${member.type}`;
  }

  #readScalar(member: WireMember, text: string): void {
    switch (member.type) {
      case "string":
        if (member.name === "authToken") this.#authorise(text);
        else this.#assign(member.name, text);
        return;
      case "float":
        this.#assign(member.name, readFloat(collapsed(text), member.name));
        return;
      case "int":
        this.#assign(member.name, readInt(collapsed(text), member.name));
        return;
      case "SpatialInterpolation":
      case "TemporalInterpolation": {
        const known = ENUMERATIONS[member.type];
        const problem = `The member ${member.name} is not one of ${known.join(", ")}.`;
        if (!known.includes(text)) throw invalid(problem, member.name);
        this.#assign(member.name, text);
        return;
      }
      default:
        throw new TypeError(`${member.type} is not a simple type`);
    }
  }

  /** `name` comes from the operation table, never from the caller. */
  #assign(name: string, value: string | number): void {
    (this.#query as Record<string, unknown>)[name] = value;
  }

  /** Reads the items of `points`, which `countPoints` counts against the limits, or of `InitialV`, which count nothing. */
  #readItems(
    item: ItemArray["item"],
    member: string,
    sink: TripleSink,
    countPoints: DecodeContext["countPoints"],
  ): Steps<void> {
    const { limit, textThreads } = this.#startOnce();
    const { points, name } = this.#context.limit(limit);
    const { remaining } = this.#context;
    return readItems(this.#reader, this.#context, {
      item,
      member,
      sink,
      maxItems: points,
      limitName: name,
      countPoints,
      ...(textThreads !== undefined && remaining !== undefined ? { ahead: { textThreads, remaining } } : {}),
    });
  }
}
