/** Components of an iCalendar file, parsed by ical.js, with the lines of their properties. */
import ICAL from "ical.js";
import type { ImportProblem } from "../model/calendar.js";

export interface Component {
  readonly name: string;
  readonly line: number;
  readonly parsed: ICAL.Component;
  /** Line of the nth property of a name in lower case, else of the component. */
  lineOf(property: string, nth?: number): number;
}

interface LogicalLine {
  readonly line: number;
  readonly text: string;
}

/** Joins folded lines (RFC 5545 3.1). */
function logicalLines(text: string): LogicalLine[] {
  const lines: { line: number; text: string }[] = [];
  for (const [position, physical] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    const last = lines.at(-1);
    if (/^[ \t]/.test(physical) && last) last.text += physical.slice(1);
    else if (physical.trim() !== "") lines.push({ line: position + 1, text: physical });
  }
  return lines;
}

/** Components inside VCALENDAR, in file order. Those that cannot be parsed are reported and left out. */
export function icsComponents(text: string, problems: ImportProblem[]): Component[] {
  const lines = logicalLines(text);
  const found: Component[] = [];
  const open: string[] = [];
  let first = 0;
  if (!/^BEGIN:VCALENDAR$/i.test(lines[0]?.text.trim() ?? "")) {
    problems.push({ place: "line 1", reason: "not iCalendar: BEGIN:VCALENDAR expected" });
    return [];
  }
  for (const [position, { line, text: content }] of lines.entries()) {
    const [, word, name = ""] = /^(BEGIN|END):([A-Za-z0-9-]+)\s*$/i.exec(content) ?? [];
    if (word?.toUpperCase() === "BEGIN") {
      if (open.length === 1) first = position;
      open.push(name.toUpperCase());
    } else if (word !== undefined) {
      if (open.pop() !== name.toUpperCase()) {
        problems.push({ place: `line ${line}`, reason: `END:${name} without its BEGIN` });
        return found;
      }
      if (open.length === 1) found.push(...parseComponent(name, lines.slice(first, position + 1), problems));
    } else if (open.length === 0) {
      problems.push({ place: `line ${line}`, reason: "is outside VCALENDAR" });
    }
  }
  if (open.length > 0)
    problems.push({ place: `line ${lines.at(-1)?.line ?? 1}`, reason: `END:${open.at(-1)} is missing` });
  return found;
}

/** Reads the properties of a component; properties of nested components are checked and left out. */
function parseComponent(name: string, lines: readonly LogicalLine[], problems: ImportProblem[]): Component[] {
  const before = problems.length;
  const properties: unknown[][] = [];
  const places = new Map<string, number[]>();
  let depth = 0;
  for (const { line, text } of lines) {
    const edge = /^(BEGIN|END):/i.exec(text)?.[1]?.toUpperCase();
    if (edge !== undefined) {
      depth += edge === "BEGIN" ? 1 : -1;
      continue;
    }
    try {
      const property = ICAL.parse.property(text) as [string, ...unknown[]];
      if (depth > 1) continue;
      properties.push(property);
      places.set(property[0], [...(places.get(property[0]) ?? []), line]);
    } catch {
      problems.push({ place: `line ${line}`, reason: "cannot be read as a property" });
    }
  }
  if (problems.length > before) return [];
  const line = lines[0]?.line ?? 1;
  const parsed = new ICAL.Component([name.toLowerCase(), properties, []]);
  const lineOf = (property: string, nth = 0) => places.get(property)?.[nth] ?? line;
  return [{ name: name.toLowerCase(), line, parsed, lineOf }];
}
