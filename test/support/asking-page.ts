/** The page docs/asking.md, written from the table of calls. */
import { CALL_NAMES, type CallName, callOf, MEMBERS, type MemberName, memberOf } from "../../src/shared/calls.js";

const DATASET = "isotropic32";

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
