/**
 * Renders the templates of lists of references: texts with names, calls of other templates, and sums and products of
 * whole numbers in double braces. A template is data of others: nothing of it is ever run.
 */
import { DataError } from "../../shared/errors.js";

/** The values of names. */
export type TemplateValues = ReadonlyMap<string, string | number>;
/** Renders a template. @throws DataError for a name without a value */
export type Render = (values: TemplateValues) => string;
/** Computes a part between braces. */
type RenderedPart = (values: TemplateValues) => string | number;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const CALL = /^([A-Za-z_][A-Za-z0-9_]*)\((.*)\)$/;
/** An argument of a call: a name, and a number or a text in quotation marks. */
const ARGUMENT = /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?:(\d+(?:\.\d+)?)|'([^']*)'|"([^"]*)")\s*$/;
const TOKEN = /\s*(?:(\d+)|([A-Za-z_][A-Za-z0-9_]*)|([-+*/()]))/y;
/** Parentheses and signs that may lie in each other. */
const MOST_DEPTH = 32;

/**
 * Reads a template.
 *
 * @param place     names the list
 * @param templates the templates of the list by name; one that holds braces itself is called with arguments
 * @throws DataError for what is not a template
 */
export function templateOf(place: string, text: string, templates: ReadonlyMap<string, string>): Render {
  const parts = text.split(/\{\{(.*?)\}\}/);
  if (parts.length === 1) return () => text;
  const terms = parts.map((part, at) => (at % 2 === 0 ? () => part : termOf(place, part.trim(), templates)));
  return (values) => terms.map((term) => term(values)).join("");
}

function termOf(place: string, text: string, templates: ReadonlyMap<string, string>): RenderedPart {
  const called = CALL.exec(text);
  const template = templates.get(called?.[1] ?? text);
  if (called !== null && template !== undefined) {
    const render = templateOf(place, template, new Map());
    const given = argumentsOf(place, called[2] as string);
    return () => render(given);
  }
  if (NAME.test(text)) return (values) => values.get(text) ?? plain(template) ?? unknown(place, text);
  return new Sum(place, text).read();
}

/** A template that needs no arguments. */
function plain(template: string | undefined): string | undefined {
  return template?.includes("{{") ? undefined : template;
}

function argumentsOf(place: string, text: string): TemplateValues {
  return new Map(
    text.split(",").map((argument) => {
      const [, name, number, ...texts] = ARGUMENT.exec(argument) ?? unknown(place, argument);
      return [name as string, number === undefined ? (texts.find((one) => one !== undefined) ?? "") : Number(number)];
    }),
  );
}

function unknown(place: string, text: string): never {
  throw new DataError(`${place} cannot be expanded: {{${text.slice(0, 200)}}} is not part of a template`);
}

/** Reads a sum of products of whole numbers and names of numbers, once for all values. */
class Sum {
  readonly #place: string;
  readonly #text: string;
  readonly #tokens: string[] = [];
  #at = 0;
  #depth = 0;

  constructor(place: string, text: string) {
    [this.#place, this.#text] = [place, text];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const found = TOKEN.exec(text);
      if (found === null) unknown(place, text);
      this.#tokens.push(found[0].trim());
    }
  }

  read(): RenderedPart {
    const sum = this.#sum();
    if (this.#at < this.#tokens.length) unknown(this.#place, this.#text);
    return (values) => {
      const value = sum(values);
      return Number.isSafeInteger(value) ? value : unknown(this.#place, this.#text);
    };
  }

  #sum(): (values: TemplateValues) => number {
    return this.#chain(["+", "-"], () => this.#chain(["*", "/"], () => this.#factor()));
  }

  /** Operands joined by operators of one rank, from left to right. */
  #chain(
    operators: readonly string[],
    operand: () => (values: TemplateValues) => number,
  ): (values: TemplateValues) => number {
    const first = operand();
    const others: [operator: string, operand: (values: TemplateValues) => number][] = [];
    while (operators.includes(this.#tokens[this.#at] ?? ""))
      others.push([this.#tokens[this.#at++] as string, operand()]);
    if (others.length === 0) return first;
    return (values) =>
      others.reduce((value, [operator, other]) => applied(operator, value, other(values)), first(values));
  }

  #factor(): (values: TemplateValues) => number {
    const token = this.#tokens[this.#at++] ?? "";
    if (/^\d/.test(token)) return () => Number(token);
    if (NAME.test(token))
      return (values) => {
        const value = values.get(token);
        return typeof value === "number" ? value : unknown(this.#place, token);
      };
    if (++this.#depth > MOST_DEPTH) unknown(this.#place, this.#text);
    let inner: (values: TemplateValues) => number;
    if (token === "-") {
      const factor = this.#factor();
      inner = (values) => -factor(values);
    } else if (token === "(") {
      inner = this.#sum();
      if (this.#tokens[this.#at++] !== ")") unknown(this.#place, this.#text);
    } else unknown(this.#place, this.#text);
    this.#depth--;
    return inner;
  }
}

function applied(operator: string, value: number, other: number): number {
  if (operator === "+") return value + other;
  if (operator === "-") return value - other;
  return operator === "*" ? value * other : value / other;
}
