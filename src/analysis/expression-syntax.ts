/** Syntax of expressions: parsing to trees by the library jsep, and texts of trees. */
import jsep from "jsep";
import { excerpt, RequestError } from "../shared/errors.js";

export const MOST_CHARACTERS = 4096;
export const MOST_DEPTH = 32;

export type SyntaxTree = jsep.Expression & Record<string, unknown>;

// Extensions of the library's syntax: a number may have a unit, and a power binds tighter than a sign before it and is
// right-associative. A hook reads every number, since `after-token` is not called after numbers that the library reads
// itself.
jsep.removeBinaryOp("^");
jsep.hooks.add("gobble-token", function readNumber(env) {
  const number = /[\d.]/.test(this.char) ? this.gobbleNumericLiteral() : undefined;
  if (number === undefined) return;
  env.node = number;
  this.gobbleSpaces();
  if (this.char !== "[") return;
  const end = this.expr.indexOf("]", this.index);
  if (end < 0) this.throwError("Expected ] after a unit");
  number.unit = this.expr.slice(this.index + 1, end);
  this.index = end + 1;
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

/** Parses an expression. Throws the error that `refuse` makes. */
export function parse(text: string, refuse: MakeError = (why) => new RequestError("InvalidRequest", why)): SyntaxTree {
  if (text.length > MOST_CHARACTERS) throw refuse(`an expression has at most ${MOST_CHARACTERS} characters`);
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
    if (open > MOST_DEPTH || signs > MOST_DEPTH) throw refuse(`it is nested deeper than ${MOST_DEPTH}`, i);
  }
  try {
    return jsep(text.replaceAll(KIND_AND_WIDTH, "$1($2)")) as SyntaxTree;
  } catch (error) {
    const { description, index } = error as { description?: string; index?: number };
    if (error instanceof RangeError) throw refuse(`it is nested deeper than ${MOST_DEPTH}`);
    throw refuse(excerpt(description ?? "it cannot be read"), index);
  }
}

/** A filter in an expression. It is parsed as a function of its width, since a colon would belong to a condition. */
const KIND_AND_WIDTH = /\b(gaussian|sharp|tophat)\s*:\s*([\d.]+(?:[eE][-+]?\d+)?)/g;

/** A text that is parsed to the same tree; empty for a missing argument. */
export function textOf(tree: SyntaxTree | null): string {
  if (tree === null) return "";
  const part = (name: string): string => textOf(tree[name] as SyntaxTree);
  const list = (name: string): string => (tree[name] as (SyntaxTree | null)[]).map(textOf).join(", ");
  switch (tree.type) {
    case "Literal":
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
