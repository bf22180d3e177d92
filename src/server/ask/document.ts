/** Describes the calls from their table: parameters and forms for OpenAPI, examples, and the reference in docs. */
import { type TSchema, Type } from "@sinclair/typebox";
import { CALL_NAMES, type CallName, callOf, FORMS, MEMBERS, type MemberName, memberOf } from "../../shared/calls.js";
import type { ApiExample, ApiGroup } from "../http/reference-page.js";
import { choicesOf } from "./read-member.js";

const DATASET = "isotropic32";

/** The words for the default of a member in a call. */
function usualOf(name: MemberName, call: CallName): string | undefined {
  return callOf(call).usual?.[name] ?? memberOf(name).usual;
}

/** A member of a call as a parameter. */
function parameterOf(name: MemberName, call: CallName): TSchema {
  const member = memberOf(name);
  const usual = usualOf(name, call);
  const choices = ["choice"].includes(member.type) ? choicesOf(name, member, call) : [];
  const { needs, example } = callOf(call);
  const schema = Type.Unsafe<string>({
    type: "string",
    description: `${member.about}${usual === undefined ? "" : ` Default: ${usual}.`}${needs.includes(name) ? " Needed." : ""}`,
    ...(choices.length === 0 ? {} : { enum: [...choices] }),
    ...(example[name] === undefined ? {} : { example: example[name] }),
  });
  return Type.Optional(schema);
}

/** The members of a call as a schema of texts; a body may hold them as JSON too. */
export function membersSchema(call: CallName) {
  return Type.Object(Object.fromEntries(callOf(call).members.map((name) => [name, parameterOf(name, call)])));
}

/** The answer of a call in each of its forms. */
export function answerSchema(call: CallName) {
  const content = Object.fromEntries(
    callOf(call).forms.map((form) => [
      FORMS[form].type,
      { schema: form === "json" ? Type.Object({}, { additionalProperties: true }) : Type.String({ format: "binary" }) },
    ]),
  );
  return { description: "The answer; its question reproduces it through /api/ask.", content };
}

/** An example of a call as an address. */
export function addressOf(call: CallName, dataset = DATASET): string {
  return `/api/datasets/${dataset}/${call}?${new URLSearchParams(callOf(call).example as Record<string, string>)}`;
}

/** The question that `POST /api/ask` shows. */
export const ASK_EXAMPLE = { dataset: DATASET, call: "values", ...callOf("values").example };

/** The example of an address of the interface; undefined for others. */
export function exampleOf(method: string, address: string): ApiExample | undefined {
  if (address === "/api/ask") return { address, body: ASK_EXAMPLE };
  const call = CALL_NAMES.find((name) => address === `/api/datasets/{name}/${name}`);
  if (call === undefined) return undefined;
  if (method === "get") return { address: addressOf(call) };
  // These addresses read the bodies of version 1 until its analyses go.
  if (["statistics", "spectrum", "structures", "dispersion"].includes(call)) return undefined;
  return { address: `/api/datasets/${DATASET}/${call}`, body: callOf(call).example };
}

/** The calls as a subject of the page. */
export const ASK_GROUP: ApiGroup = {
  name: "Questions",
  has: (address) =>
    address === "/api/ask" || [...CALL_NAMES, "levels"].some((name) => address === `/api/datasets/{name}/${name}`),
};

/** A cell of a table of Markdown. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

/** The reference of all calls and members, docs/asking.md. */
export function referenceText(): string {
  const calls = CALL_NAMES.map(
    (name) =>
      `| [\`${name}\`](#${name}) | ${cell(callOf(name).summary)} | ${callOf(name).kind} | ${callOf(name).forms.join(" ")} |`,
  );
  const members = (Object.keys(MEMBERS) as MemberName[]).map((name) => {
    const { about, usual = "", example } = memberOf(name);
    return `| \`${name}\` | ${cell(about)} | ${cell(usual)} | \`${cell(example)}\` |`;
  });
  const sections = CALL_NAMES.map((name) => {
    const { about, members: own, needs, usual = {} } = callOf(name);
    const words = Object.entries(usual).map(([member, text]) => `\`${member}\`: ${text}`);
    return [
      `### ${name}`,
      "",
      cell(about),
      "",
      `Members: ${own.map((member) => `\`${member}\`${needs.includes(member) ? " (needed)" : ""}`).join(", ")}.${words.length === 0 ? "" : ` Defaults of its own: ${words.join("; ")}.`}`,
      "",
      "```sh",
      curlOf(name),
      "```",
    ].join("\n");
  });
  return `${[HEAD, "## Calls", "", "| Call | Answers | Kind | Forms |", "|---|---|---|---|", ...calls, "", "## Members", "", "| Member | Means | Default | Example |", "|---|---|---|---|", ...members, "", "## Each call", "", sections.join("\n\n")].join("\n")}\n`;
}

/** A call as a command line of curl. */
function curlOf(call: CallName): string {
  const members = Object.entries(callOf(call).example).map(([name, value]) => `--data-urlencode '${name}=${value}'`);
  return `curl -sG 'http://127.0.0.1:8080/api/datasets/${DATASET}/${call}' ${members.join(" ")}`;
}

const HEAD = `# Asking

A question is one sentence: of this dataset, what, where, when, how, and in which form. \`GET\` and \`POST
/api/datasets/NAME/CALL\` take the same members, in the query string or as JSON, and a member means the same as text and as
JSON. \`POST /api/ask\` takes a whole question, \`{"dataset": …, "call": …}\` with the members, or a list of at most 64, which
answers a list of answers and problems.

An answer has \`dataset\`, \`version\`, \`manifest\` and \`question\`: the question complete, every default made explicit. Sent to
\`/api/ask\` it gives the same bytes for the same version and manifest. Rows are \`columns\` and \`rows\`; grids are \`dims\`,
\`coords\`, \`units\` and \`data\`; tables are described in [analysis.md](analysis.md). Numbers that are not finite are null. With a
filter, \`filter\` has its \`widths\` along x, y and z as it acts: a tophat has a whole number of nodes.
A wrong question is answered with all of its faults at once, in \`errors\`: \`code\`, \`member\`, \`detail\` and, where a name was
near, \`nearest\`.

In an address \`+ & # %\` are encoded: with curl use \`-G --data-urlencode\`. Objects are JSON or leaves with dots,
\`points.random=1000\`. Points may be a body: CSV with a header of names, npy of shape (n, 3), or octets of float32; the other
members are in the query string then.

This page is generated from the table of calls, \`src/shared/calls.ts\`.
`;
