/** Drafts of files that await confirmation; callers who may manage data see, answer and confirm them. */
import { createHash } from "node:crypto";
import { relative, sep } from "node:path";
import { Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { DraftView } from "../../engine/contract/query.js";
import { isAddress } from "../../shared/addresses.js";
import { type Config, isLoopbackHost } from "../../shared/config.js";
import { AuthError, DataError, NotFoundError, RequestError } from "../../shared/errors.js";
import { shellText } from "../../shared/messages.js";
import { readJsonBody } from "../../text/json-body.js";
import { compute, tokenOf } from "../http/compute.js";
import { negotiate } from "../http/negotiate.js";
import { readWhole } from "../http/read-whole.js";
import { HttpRefusal } from "../http/refusal.js";
import type { RequestLife } from "../http/request-life.js";
import { addVary } from "../http/send-answer.js";
import type { Service } from "../http/service.js";
import { wrong } from "./faults.js";
import { drawPicture, Range } from "./formats/picture.js";
import { anyObject, FAILURES } from "./schemas.js";

/** Members of an answer, and characters of each. */
const BODY_BYTES = 64 * 1024;
const MAX_LISTED = 1000;
/** Headers by which a proxy says that a caller is elsewhere. */
const OF_PROXIES = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

const FORBIDDEN = "Data that wait are for tokens with the right manage (fieldprobe token add NAME --manage).";

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

type Texts = ReadonlyMap<string, readonly string[]>;

/** What a person has answered about a file. */
interface Said {
  readonly texts: Texts;
  /** Whether the files that differ in one number are read as one dataset. */
  readonly series: boolean;
  /** What was shown with these answers; undefined if nothing was. */
  readonly structure: DraftView["structure"];
}

interface Waiting {
  readonly id: string;
  readonly location: string;
  readonly why: string;
  /** The files of its series, itself alone if it is none. */
  readonly series: readonly string[];
}

/** Answers so far, by location. They are lost with the process; a confirmation is kept in a file. */
class Drafts {
  readonly #service: Service;
  readonly #said = new Map<string, Said>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(service: Service) {
    this.#service = service;
  }

  list(): readonly Waiting[] {
    const waiting = this.#service.engine.waiting();
    const series = new Map<string, string[]>();
    for (const { location, series: pattern } of waiting)
      if (pattern !== null) series.set(pattern, [...(series.get(pattern) ?? []), location]);
    return waiting.map(({ location, message, series: pattern }) => ({
      id: digestOf(location).slice(0, 16),
      location,
      why: message,
      series: pattern === null ? [location] : (series.get(pattern) as string[]),
    }));
  }

  /** @throws NotFoundError if nothing of that id waits */
  find(id: string): Waiting {
    const found = this.list().find((one) => one.id === id);
    if (found === undefined) throw new NotFoundError("Nothing of this id waits; /api/drafts lists what does.");
    return found;
  }

  /** Runs steps after earlier ones for the same draft, with their answers. Keeps no reply: that holds its request. */
  inTurn<T>({ location }: Waiting, steps: (said: Said) => Promise<T>): Promise<T> {
    const run = () => steps(this.#said.get(location) ?? { texts: new Map(), series: false, structure: undefined });
    const turn = (this.#turns.get(location) ?? Promise.resolve()).then(run);
    const ended = Promise.allSettled([turn]).then(() => undefined);
    this.#turns.set(location, ended);
    return turn;
  }

  /** Reads a draft, and keeps its answers; confirms no other structure than was shown. Throws RequestError. */
  async read(waiting: Waiting, { texts, series, structure }: Said, confirms = false): Promise<DraftView> {
    const paths = series ? waiting.series : [waiting.location];
    try {
      const view = await this.#service.engine.draft({
        paths,
        texts,
        confirms,
        shown: confirms ? structure : undefined,
      });
      if (confirms && view.open.length + view.problems.length === 0) this.#said.delete(waiting.location);
      else this.#said.set(waiting.location, { texts, series, structure: view.structure });
      return view;
    } catch (error) {
      // What the file does not allow is for the person to read, not a failure of the service.
      throw error instanceof DataError ? new RequestError("Unsupported", error.message) : error;
    }
  }
}

/** The path of a file below its data folder; addresses are unchanged. */
function shownPath(location: string, { data }: Pick<Config, "data">): string {
  if (isAddress(location)) return location;
  const below = data.map((folder) => relative(folder, location)).find((path) => !path.startsWith(".."));
  return (below === undefined || below === "" ? location : below).split(sep).join("/");
}

/** Whether a caller is on this machine, and the service for it alone: no tokens, not public, not behind a proxy. */
function isOwner({ host, tokens, anonymous, baseUrl, trustProxy }: Config, { ip, headers }: FastifyRequest): boolean {
  const isPublic = tokens !== null || anonymous === true || trustProxy !== null;
  const isNamed = baseUrl !== null && !isLoopbackHost(new URL(baseUrl).hostname);
  const isProxied = OF_PROXIES.some((name) => headers[name] !== undefined);
  return !isPublic && !isNamed && !isProxied && isLoopbackHost(host) && isLoopbackHost(ip.replace(/^::ffff:/, ""));
}

function mayManage({ config, auth }: Service, request: FastifyRequest): boolean {
  if (isOwner(config, request)) return true;
  try {
    const { manage = false, release } = auth.authorise(tokenOf(request));
    release();
    return manage;
  } catch (error) {
    // The list says so instead: a page asks without knowing.
    if (error instanceof AuthError) return false;
    throw error;
  }
}

async function givenIn(life: RequestLife, { method, headers }: FastifyRequest): Promise<object> {
  if (method === "GET" || headers["content-type"] === undefined) return {};
  const bytes = await readWhole(life, BODY_BYTES);
  const body = bytes.length === 0 ? {} : readJsonBody(bytes);
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new RequestError("InvalidRequest", "The body is an object of answers.", { member: "body" });
  return body;
}

const nameOf = ({ texts, series, structure }: Said): string =>
  digestOf(JSON.stringify([[...texts], series, [...(structure ?? [])]]));

/** Answers of which a later one takes the place of an earlier one. */
const ONE_LINE = ["spacing", "length", "coordinates"];
/** Answers about the frames, which are others once the files of a series are read as one dataset or no longer. */
const OF_FRAMES = ["times", "overlap"];

/** Adds answers: texts, numbers, or lists; null takes one back. Throws HttpRefusal if `shown` is an earlier draft. */
function withAnswers(before: Said, { shown, ...given }: { readonly shown?: unknown; readonly series?: unknown }): Said {
  if (shown !== undefined && shown !== nameOf(before))
    throw new HttpRefusal(409, "The draft is another than the one shown: read it again.");
  if (shown !== undefined && Object.keys(given).length > 0) throw wrong("shown", "answers go before it, by PATCH");
  const said = Object.entries(given);
  const isOther = typeof given.series === "boolean" && given.series !== before.series;
  const isSaid = said.some(([flag, value]) => value !== null && ONE_LINE.includes(flag));
  const replaced = [...(isSaid ? ONE_LINE : []), ...(isOther ? OF_FRAMES : [])];
  const texts = new Map([...before.texts].filter(([flag]) => !replaced.includes(flag)));
  let { series } = before;
  for (const [flag, value] of said) {
    if (flag === "series") {
      if (typeof value !== "boolean") throw wrong("series", "true or false is needed");
      series = value;
    } else if (value === null) texts.delete(flag);
    else texts.set(flag, textsOf(flag, value));
  }
  return { texts, series, structure: said.length > 0 ? undefined : before.structure };
}

function textsOf(flag: string, value: unknown): readonly string[] {
  const all = Array.isArray(value) ? value : [value];
  if (!all.every((one) => typeof one === "string" || typeof one === "number"))
    throw wrong(flag, "a text or a number is needed, as for the flag");
  // Lists of numbers are what a flag takes between commas; only orders and named fields may be repeated.
  return all.every((one) => typeof one === "number") ? [all.join(",")] : all.map(String);
}

function documentOf({ config }: Service, waiting: Waiting, said: Said, view: DraftView) {
  const { slice, refusal: _, structure, ...texts } = view;
  const mayConfirm = view.open.length === 0 && view.problems.length === 0;
  return {
    ...{ id: waiting.id, ...texts, file: shownPath(waiting.location, config), files: waiting.series.length },
    answers: Object.fromEntries([...said.texts].map(([flag, all]) => [flag, all.length === 1 ? all[0] : all])),
    series: said.series,
    shown: nameOf({ ...said, structure }),
    picture: slice !== null,
    mayConfirm,
    command: commandOf(waiting, said, mayConfirm),
  };
}

/** The command that shows the same draft, in any folder, and confirms it if nothing is open. */
function commandOf({ location, series, why }: Waiting, said: Said, mayConfirm: boolean): string {
  const [same] = /fieldprobe inspect .* --same$/.exec(why) ?? [];
  const paths = (said.series ? series : [location]).map(shellText);
  const flags = [...said.texts].flatMap(([flag, all]) => all.map((text) => `--${flag} ${shellText(text)}`));
  const [, apart = []] = why.split(`fieldprobe inspect ${shellText(location)} `);
  return same ?? ["fieldprobe inspect", ...paths, ...flags, apart, mayConfirm ? "--yes" : []].flat().join(" ");
}

async function sendPicture(reply: FastifyReply, life: RequestLife, { slice }: DraftView): Promise<FastifyReply> {
  if (slice === null) throw new RequestError("Unsupported", "This draft has no plane of values to show.");
  const range = new Range();
  range.add(slice.values);
  const picture = await drawPicture(slice.values, slice.rows, slice.columns, "viridis", range.ends, life.slices);
  reply.header("fieldprobe-range", range.ends.join(","));
  return reply.type("image/png").send(picture);
}

interface Named {
  Params: { id: string };
}

const DRAFT = anyObject("What the file is taken for, why, and the lines that are open.");
const ANSWERS = Type.Object(
  { series: Type.Optional(Type.Boolean({ description: "Reads all files of its series as one dataset." })) },
  { additionalProperties: true, description: "Flags of `fieldprobe inspect` without dashes; null takes one back." },
);

export function draftRoutes(api: FastifyInstance, service: Service): void {
  const drafts = new Drafts(service);
  const params = Type.Object({ id: Type.String({ description: "Id of a draft, as the list gives it." }) });
  const ofOne = { params, response: { 200: DRAFT, ...FAILURES } };
  const managed = (
    request: FastifyRequest<Named>,
    reply: FastifyReply,
    steps: (life: RequestLife, waiting: Waiting, said: Said) => Promise<FastifyReply>,
  ) =>
    compute(service, { name: "draft" }, request, reply, async (life) => {
      if (!life.canManageData && !isOwner(service.config, request)) throw new HttpRefusal(403, FORBIDDEN);
      const waiting = drafts.find(request.params.id);
      const given = await givenIn(life, request);
      return drafts.inTurn(waiting, (said) => steps(life, waiting, withAnswers(said, given)));
    });
  const listing = {
    summary: "Files that wait for a person",
    description: "Lists them to who may confirm: on this machine, or by a token with the right manage.",
    response: { 200: anyObject("The files."), ...FAILURES },
  };
  api.get("/drafts", { schema: listing }, (request) => {
    const manage = mayManage(service, request);
    const all = drafts.list();
    const listed = all.slice(0, manage ? MAX_LISTED : 0).map(({ id, location, why, series }) => {
      return { id, file: shownPath(location, service.config), why, files: series.length };
    });
    return { manage, waiting: all.length, drafts: listed };
  });
  api.get<Named & { Querystring: { format?: string } }>(
    "/drafts/:id",
    {
      schema: {
        ...{ ...ofOne, summary: "What a file is taken for" },
        description: "As image/png, the middle plane of its first field.",
        querystring: Type.Object({ format: Type.Optional(Type.Unsafe({ type: "string", enum: ["json", "png"] })) }),
      },
    },
    (request, reply) =>
      managed(request as never, reply, async (life, waiting, said) => {
        const type = negotiate(request.headers.accept, ["application/json", "image/png"]);
        const view = await drafts.read(waiting, said);
        addVary(reply, "Accept");
        const isPicture = request.query.format === undefined ? type === "image/png" : request.query.format === "png";
        return isPicture ? sendPicture(reply, life, view) : reply.send(documentOf(service, waiting, said, view));
      }),
  );
  const description = "Adds answers to those before, and shows the draft with them.";
  const answering = { ...ofOne, summary: "Answer what is open", description, body: ANSWERS };
  api.patch<Named>("/drafts/:id", { schema: answering }, (request, reply) =>
    managed(request, reply, async (_, waiting, said) =>
      reply.send(documentOf(service, waiting, said, await drafts.read(waiting, said))),
    ),
  );
  api.post<Named>(
    "/drafts/:id/confirm",
    {
      schema: {
        summary: "Confirm what a file is taken for",
        description:
          "Keeps the draft, with the answers so far and those of the body; its dataset is served from then on. With " +
          "`shown`, as the draft gives it, instead of answers: 409 if the draft is another by now.",
        params,
        body: ANSWERS,
        response: { 201: DRAFT, ...FAILURES },
      },
    },
    (request, reply) =>
      managed(request, reply, async (_, waiting, said) => {
        const { name, open, problems } = await drafts.read(waiting, said, true);
        const left = [...problems, ...open.map(({ question, flag }) => `${question} (${flag})`)];
        if (left.length > 0) throw new HttpRefusal(409, `It cannot be confirmed yet: ${left.join(" ")}`);
        return reply.code(201).send({ dataset: name, file: shownPath(waiting.location, service.config) });
      }),
  );
}
