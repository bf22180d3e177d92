/** Syntax of expressions: parsing to trees by the library jsep, and texts of trees. */
import jsep from "jsep";
import { excerpt, RequestError } from "../shared/errors.js";

export const MAX_CHARACTERS = 4096;
export const MAX_DEPTH = 32;

/** `column` is the index of the name, number, sign or bracket that errors name; a call has that of its function. */
export type SyntaxTree = jsep.Expression & Record<string, unknown> & { column: number };

// Extensions of the library's syntax: a number may have a unit, a filter has a width, and a power binds tighter than a
// sign before it and is right-associative. A hook reads every number: `after-token` is not called after the library's.
jsep.removeBinaryOp("^");
jsep.hooks.add("gobble-token", function readNumber(env) {
  const number = /[\d.]/.test(this.char) ? this.gobbleNumericLiteral() : undefined;
  if (number === undefined) return;
  env.node = number;
  this.gobbleSpaces();
  if (this.char !== "[") return;
  const end = this.expr.indexOf("]", this.index);
  if (end < 0) this.throwError("Expected ] after a unit");
  number.unitColumn = this.index;
  number.unit = this.expr.slice(this.index + 1, end);
  this.index = end + 1;
});
/** A filter is a function of its width, since a colon would belong to a condition. */
jsep.hooks.add("after-token", function readFilter(env) {
  if (this.char !== ":" || !/^(?:gaussian|sharp|tophat)$/.test(String(env.node?.name))) return;
  this.index++;
  this.gobbleSpaces();
  env.node = { type: "CallExpression", callee: env.node, arguments: [this.gobbleNumericLiteral()] };
});
jsep.hooks.add("after-token", function readPower(env) {
  if (!env.node) return;
  this.gobbleSpaces();
  if (this.char !== "^") return;
  this.index++;
  const right = this.gobbleToken();
  if (!right) throw new Error("Expected an exponent after ^");
  env.node = { type: "BinaryExpression", operator: "^", left: env.node, right };
});

/** Makes the error of an expression; `index` is the index of the wrong character. */
export type MakeError = (message: string, index?: number, nearest?: string) => RequestError;

export function parse(text: string, refuse: MakeError = (why) => new RequestError("InvalidRequest", why)): SyntaxTree {
  if (text.length > MAX_CHARACTERS) throw refuse(`an expression has at most ${MAX_CHARACTERS} characters`);
  // The parser recurses at each bracket and at each of several signs in a row, so their depth is checked first.
  let open = 0;
  let signs = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (/[\t\r\n]/.test(character)) throw refuse("an expression is one line, without tabs", i);
    if (!/[\x20-\x7e]/.test(character)) throw refuse(`"${excerpt(character)}" has no meaning`, i);
    if ("([".includes(character)) open++;
    if (")]".includes(character)) open--;
    signs = "-+!^?".includes(character) ? signs + 1 : character === " " ? signs : 0;
    if (open > MAX_DEPTH || signs > MAX_DEPTH) throw refuse(`it is nested deeper than ${MAX_DEPTH}`, i);
  }
  try {
    const tree = jsep(text) as SyntaxTree;
    const starts = [...text.matchAll(WORD)].map(({ index }) => index);
    setColumns(tree, text, starts);
    return tree;
  } catch (error) {
    const { description, index } = error as { description?: string; index?: number };
    if (error instanceof RangeError) throw refuse(`it is nested deeper than ${MAX_DEPTH}`);
    throw refuse(excerpt(description ?? "it cannot be read"), index);
  }
}

/** A number with its unit, a text, a name or another character. */
const WORD = /(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?: *\[[^\]]*\])?|(["']).*?\1|[A-Za-z_$][\w$]*|\S/g;

/** Words and parts of each kind of node, in the order of the text: members of a node, or a mark. */
const IN_ORDER: Readonly<Record<string, readonly string[]>> = {
  Literal: ["raw"],
  Identifier: ["name"],
  UnaryExpression: ["operator", "argument"],
  BinaryExpression: ["left", "operator", "right"],
  ConditionalExpression: ["test", "?", "consequent", "alternate"],
  ArrayExpression: ["[", "elements"],
  CallExpression: ["callee", "arguments"],
  MemberExpression: ["object", "[", "property"],
};

/** Sets the columns of a tree, which the library does not record. `starts`: where the words of the text begin. */
function setColumns(tree: SyntaxTree, text: string, starts: number[]): void {
  for (const name of IN_ORDER[tree.type] ?? []) {
    const part = tree[name] ?? name;
    if (typeof part !== "string") {
      for (const one of [part].flat() as (SyntaxTree | null)[]) if (one !== null) setColumns(one, text, starts);
    } else if (tree.computed !== false) {
      while (starts.length > 0 && !text.startsWith(part, starts[0])) starts.shift();
      tree.column = starts.shift() ?? text.length;
    }
  }
  tree.column ??= ((tree.callee ?? tree.property) as SyntaxTree | undefined)?.column as number;
}

/** A text that is parsed to the same tree; empty for a missing argument. */
export function textOf(tree: SyntaxTree | null): string {
  if (tree === null) return "";
  const part = (name: string): string => textOf(tree[name] as SyntaxTree);
  const list = (name: string): string => (tree[name] as (SyntaxTree | null)[]).map(textOf).join(", ");
  switch (tree.type) {
    case "Literal":
      if (typeof tree.value === "string") return JSON.stringify(tree.value);
      return `${tree.value}${tree.unit === undefined ? "" : `[${tree.unit}]`}`;
    case "Identifier":
      return tree.name as string;
    case "UnaryExpression":
      return `${tree.operator}(${part("argument")})`;
    case "ConditionalExpression":
      return `(${part("test")} ? ${part("consequent")} : ${part("alternate")})`;
    case "CallExpression":
      return `${part("callee")}(${list("arguments")})`;
    case "ArrayExpression":
      return `[${list("elements")}]`;
    case "MemberExpression":
      return tree.computed ? `${part("object")}[${part("property")}]` : `${part("object")}.${part("property")}`;
    default:
      return `(${part("left")} ${tree.operator} ${part("right")})`;
  }
}
