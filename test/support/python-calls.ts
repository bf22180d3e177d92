/** The calls of the Python package as text: a method for each call of the table, with its members and their words. */
import {
  CALL_NAMES,
  type CallName,
  callOf,
  describeWithChoices,
  type MemberName,
  type MemberType,
  memberOf,
} from "../../src/shared/calls.js";

/** Members of forms and jobs, which `ask` and `submit` of the package take. */
const LEFT_OUT: readonly MemberName[] = ["format", "job", "map", "scale"];

const TYPES: Readonly<Partial<Record<MemberType, string>>> = {
  what: "Optional[What]",
  number: "Optional[float]",
  integer: "Optional[int]",
  boolean: "Optional[bool]",
  choice: "Optional[str]",
  condition: "Optional[str]",
  filter: "Optional[str]",
};

const RETURNS = {
  values:
    'One quantity is an array of shape (…), (…, 3) or (…, 3, 3), where (…) is that of the points; a list of quantities is a dict of arrays. Several times come first. Points have the shape (…, 3), with time="each" (…, 4); any number of them is sent in parts.',
  rows: "Columns as arrays by name.",
  grid: "A grid: arrays by name, coordinates, units, to_xarray() and plot().",
  table: "The members of the answer, lists of numbers as arrays; to_pandas() is the table.",
} as const;
const CLASSES = { rows: "Rows", grid: "Grid", table: "Table" } as const;

/** Words in lines of at most 110 characters, the first one of a member after its name. */
function wrapped(text: string, indent: string, more: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1] as string;
    const full = (lines.length === 1 ? indent : more).length + last.length + word.length >= 110;
    if (full && last !== "") lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.map((line, i) => (i === 0 ? indent : more) + line).join("\n");
}

function methodOf(call: CallName): string {
  const { summary, description, members, required, kind } = callOf(call);
  const taken = members.filter((name) => !LEFT_OUT.includes(name) && (name !== "range" || kind === "table"));
  // Of statistics of paths, what is asked along them is the exception.
  const leading: readonly MemberName[] =
    required.includes("points") && kind === "table" ? ["points"] : ["what", "points"];
  const first = taken.filter((name) => leading.includes(name) && (name === "what" || required.includes(name)));
  const typed = (name: MemberName) => `        ${name}: ${TYPES[memberOf(name).type] ?? "Any"} = None,`;
  const rest = taken.filter((name) => !first.includes(name));
  const words = taken.map((name) =>
    wrapped(`${name}: ${describeWithChoices(name, call)}`, " ".repeat(12), " ".repeat(16)),
  );
  const named = taken.filter((name) => name !== "what").map((name) => `"${name}": ${name}`);
  const isValues = call === "values";
  return `    def ${call}(
        self,
${first.map(typed).join("\n")}${first.length > 0 ? "\n" : ""}        *,
${rest.map(typed).join("\n")}
${isValues ? "        progress: Progress = False,\n" : ""}    ) -> ${isValues ? "Any" : CLASSES[kind]}:
        """${summary}.

${wrapped(description, " ".repeat(8), " ".repeat(8))}

        Args:
${words.join("\n")}
${isValues ? `${wrapped("progress: True shows a bar if tqdm is installed; a function gets the counts of finished and of all points.", " ".repeat(12), " ".repeat(16))}\n` : ""}
        Returns:
${wrapped(isValues ? RETURNS.values : RETURNS[kind], " ".repeat(12), " ".repeat(12))}
        """
        return self._call(
            "${call}",
            ${taken.includes("what") ? "what" : "None"},
            {${named.join(", ")}},${isValues ? "\n            progress," : ""}
        )
`;
}

export function pythonCalls(): string {
  return `"""\`\`Calls\`\` has a method for each call. It is generated from the table of calls, src/shared/calls.ts."""

from __future__ import annotations

from typing import Any, Optional

from .asking import Asking, Grid, Progress, Rows, Table, What


class Calls(Asking):
    """The calls of a dataset: what, where, when, how.

    Members have the names of docs/asking.md. A value is a number, a text, a list, a numpy array or scalar, a slice for a
    range (\`\`x=slice(0, 1)\`\`), or None for what is not given.
    """

    _kinds = {
${CALL_NAMES.map((call) => `        "${call}": "${callOf(call).kind}",`).join("\n")}
    }

${CALL_NAMES.map(methodOf).join("\n")}`;
}
