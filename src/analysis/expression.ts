/** Compiler of expressions, from their text to functions of whole blocks of nodes; no text is ever run as code. */
import { excerpt, RequestError } from "../shared/errors.js";
import { FIELDS } from "../shared/operations.js";
import { unitFactors } from "../shared/quantities.js";
import {
  BINARY,
  type Components,
  choose,
  eachOnce,
  power,
  product,
  realPower,
  type Shape,
  sums,
  UNARY,
} from "./array-functions.js";
import {
  commonOf,
  dimensionOfDerivative,
  dimensionOfInput,
  dimensionOfPowers,
  dimensionText,
  powerOf,
  productOf,
  type UnitPowers,
  unitIn,
} from "./dimensions.js";
import { FUNCTIONS } from "./expression-functions.js";
import { MAX_DEPTH, type MakeError, parse, type SyntaxTree, textOf } from "./expression-syntax.js";
import {
  COORDINATES,
  fieldOfName,
  formulaOf,
  type InputKey,
  type InputKind,
  type Names,
  nameList,
  nearestName,
  partsOfInput,
  presentName,
  REPLACED,
} from "./names.js";
import { type BlockInputs, inputPart, partOf, type Subexpression } from "./subexpression.js";

const MAX_PARTS = 256;
/** Most parts of an expression and of the formulas in it. */
const MAX_ALL_PARTS = 16 * MAX_PARTS;
const MAX_EXPONENT = 16;

export interface Expression {
  readonly text: string;
  /** The text with names written out: expressions with the same key have the same values. */
  readonly key: string;
  readonly shape: Shape;
  /** Unit of the values: "1" for a number, null if it depends on units that are not stated. */
  readonly unit: string | null;
  readonly dimension: UnitPowers;
  /** The field that it is, or a component of; null for other expressions. */
  readonly field: string | null;
  readonly inputs: readonly InputKey[];
  /** Inputs that it reads, and inputs of the expressions in these inputs. */
  readonly reads: readonly InputKey[];
  evaluate(block: BlockInputs): Components;
}

/** Compiles an expression. @param member named by errors @throws RequestError that names the column of what is wrong */
export function compileExpression(text: string, names: Names, member = "expression"): Expression {
  const refuse = (message: string, index?: number, nearest?: string): RequestError => {
    const column = index === undefined ? "" : ` (column ${index + 1})`;
    const context = nearest === undefined ? { member } : { member, nearest };
    return new RequestError("InvalidRequest", `${member}: ${message}${column}.`, context);
  };
  const { averaged = [], ...plain } = names;
  const means = new Map(averaged.map((one) => [compileExpression(one, plain).key, one]));
  const shared: Compilation = { inputs: new Set(), reads: new Set(), parts: 0, parsedFormulas: new Map(), means };
  const tree = parse(text, refuse);
  const { key, shape, dimension, source, run } = new ExpressionCompiler(names, shared, refuse).compile(tree);
  const { kind, field = null } = (source && partsOfInput(source.key)) ?? {};
  return {
    text,
    key,
    shape,
    dimension,
    unit: unitIn(dimension),
    field: kind === "value" ? field : null,
    inputs: [...shared.inputs],
    reads: [...shared.reads],
    evaluate: run,
  };
}

/** The key of an expression; undefined for a text that is none in a dataset. */
export function keyOf(text: string, names: Names): string | undefined {
  try {
    return compileExpression(text, names).key;
  } catch {
    return undefined;
  }
}

/** Compiles an expression to a scalar. Throws RequestError for a vector or a tensor too, with what to write instead. */
export function compileScalar(text: string, names: Names, member = "expression"): Expression {
  const expression = compileExpression(text, names, member);
  const { shape } = expression;
  if (shape === "scalar") return expression;
  const [quantity, first] = [excerpt(text.trim()), excerpt(componentsIn(text, shape)[0])];
  const problem = `${quantity} is a ${shape}, and a scalar is needed: norm(${quantity}), or a component such as ${first}`;
  throw new RequestError("InvalidRequest", `${member}: ${problem}.`, { member });
}

/** The components of a quantity as expressions; a tensor has its components by rows. */
export function componentsIn(text: string, shape: Shape): readonly string[] {
  if (shape === "scalar") return [text];
  const whole = /^\s*\w+(\([^()]*\)|\.\w|\[\d\])*\s*$/.test(text) ? text.trim() : `(${text})`;
  if (shape === "vector") return ["x", "y", "z"].map((letter) => `${whole}.${letter}`);
  return [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => `${whole}[${i}][${j}]`));
}

/** Inputs and the number of subexpressions, shared by the compilers of an expression and of the formulas in it. */
interface Compilation {
  inputs: Set<InputKey>;
  readonly reads: Set<InputKey>;
  parts: number;
  readonly parsedFormulas: Map<string, SyntaxTree>;
  /** Fields of a coarser level that hold the mean of an expression, by the key of that expression. */
  readonly means: ReadonlyMap<string, string>;
}

class ExpressionCompiler {
  readonly #names: Names;
  readonly #shared: Compilation;
  readonly #refuse: MakeError;
  #column = 0;
  #partCount = 0;

  constructor(names: Names, shared: Compilation, refuse: MakeError) {
    this.#names = names;
    this.#shared = shared;
    this.#refuse = refuse;
  }

  compile(tree: SyntaxTree | null, depth = 1): Subexpression {
    if (tree === null) throw this.#refuse("a component is missing");
    if (++this.#partCount > MAX_PARTS) throw this.#refuse(`it has more than ${MAX_PARTS} parts`);
    if (++this.#shared.parts > MAX_ALL_PARTS)
      throw this.#refuse(`with formulas written out, the expression has more than ${MAX_ALL_PARTS} parts`);
    if (depth > MAX_DEPTH) throw this.#refuse(`it is nested deeper than ${MAX_DEPTH}`);
    const { inputs, reads, means } = this.#shared;
    const sizes = [inputs.size, reads.size];
    const part = this.#compilePart(tree, depth);
    const field = means.size === 0 ? undefined : means.get(part.key);
    if (field === undefined) return part;
    // This level holds the mean of this part: read that field, and forget the inputs that its compilation has added.
    for (const [i, set] of [inputs, reads].entries()) for (const key of [...set].slice(sizes[i])) set.delete(key);
    return { ...this.#read(`value:${field}`, 0, part.shape, part.dimension), key: part.key, meanOf: part };
  }

  #compilePart(tree: SyntaxTree, depth: number): Subexpression {
    const { column } = tree;
    this.#column = column;
    const part = (name: string): Subexpression => this.compile(tree[name] as SyntaxTree, depth + 1);
    switch (tree.type) {
      case "Literal":
        return this.#literal(tree);
      case "Identifier":
        return this.#name(tree.name as string, column);
      case "UnaryExpression":
        return this.#unary(tree.operator as string, part("argument"), column);
      case "BinaryExpression":
        return this.#binary(tree.operator as string, part("left"), part("right"), column);
      case "ConditionalExpression":
        return this.#conditional(part("test"), part("consequent"), part("alternate"), column);
      case "CallExpression":
        return this.#call(tree, depth);
      case "ArrayExpression":
        return this.#array(this.#compileAll(tree.elements, depth), column);
      case "MemberExpression":
        return this.#rowOfHessian(tree) ?? this.#member(tree, part("object"));
      default:
        throw this.#refuse(
          Array.isArray(tree.body) && tree.body.length === 0
            ? "it is empty"
            : "an operator is missing; + is %2B in an address",
        );
    }
  }

  #compileAll(trees: unknown, depth: number): readonly Subexpression[] {
    return (trees as readonly (SyntaxTree | null)[]).map((one) => this.compile(one, depth + 1));
  }

  /** A constant, compatible with every unit unless it states one: `1.2[kg/m3]`. */
  #literal({ value, unit, column, unitColumn }: SyntaxTree): Subexpression {
    if (typeof value !== "number" || !Number.isFinite(value))
      throw this.#refuse(`${excerpt(String(value))} is not a number`, column);
    const part = constantPart(value);
    if (typeof unit !== "string") return part;
    const dimension = unitFactors(unit.trim());
    if (dimension === null) throw this.#refuse(`[${excerpt(unit)}] is not a unit`, unitColumn as number);
    return { ...part, dimension: this.#names.units === null ? null : dimension };
  }

  #name(name: string, column: number): Subexpression {
    if (name === "pi") return constantPart(Math.PI);
    const { viscosity, refusesEarlier } = this.#names;
    const units = this.#names.units ?? {};
    const present = refusesEarlier === true && !Object.hasOwn(this.#names.fields, name) ? presentName(name) : undefined;
    if (present !== undefined && keyOf(present.replace(/ .*|^filter/g, ""), this.#names) !== undefined)
      throw this.#refuse(`nothing has the name ${excerpt(name)}; write ${present}`, column, present);
    if (name === "tau") return this.#stress(column);
    if (name === "nu" && viscosity !== undefined)
      return { ...constantPart(viscosity), dimension: dimensionOfPowers(units, { velocity: 1, length: 1 }) };
    const components = Object.hasOwn(this.#names.fields, name) ? this.#names.fields[name] : null;
    const key = COORDINATES.find((one) => one === name) ?? (components === null ? null : (`value:${name}` as const));
    if (key === null) {
      const formula = formulaOf(name);
      if (Object.hasOwn(FIELDS, name)) throw this.#refuse(`the dataset has no ${name}`, column);
      if (formula === undefined) throw this.#unknownName(name, column);
      return this.#formula(formula, name, column);
    }
    const shape = key.includes(":") && components === 3 ? "vector" : "scalar";
    return this.#read(key, 0, shape, dimensionOfInput(key, units));
  }

  /** The subexpression of a formula; its errors are reported at the column of its name. */
  #formula(formula: string, name: string, column: number): Subexpression {
    const refuse: MakeError = (message) => this.#refuse(`${name}: ${message}`, column);
    const tree = this.#shared.parsedFormulas.get(formula) ?? parse(formula, refuse);
    this.#shared.parsedFormulas.set(formula, tree);
    return new ExpressionCompiler(this.#names, this.#shared, refuse).compile(tree);
  }

  /** The stress of a filter; that of a box is an input of its own. */
  #stress(column: number): Subexpression {
    if (this.#names.isFiltered === "box") return this.#input("filteredStress", "velocity", "tensor");
    const means = "[filter(u).x * filter(u), filter(u).y * filter(u), filter(u).z * filter(u)]";
    const products = this.#input("filteredProducts", "velocity", "tensor");
    return this.#binary("-", products, this.#formula(means, "tau", column), column);
  }

  /** Components of an input, which is read. */
  #read(...[key, ...more]: Parameters<typeof inputPart>): Subexpression {
    this.#shared.inputs.add(key);
    this.#shared.reads.add(key);
    return inputPart(key, ...more);
  }

  /** An input derived from a field: its components from number `from` on. */
  #input(kind: string, field: string, shape: Shape, from = 0, step = 1): Subexpression {
    if (!Object.hasOwn(this.#names.fields, field)) throw this.#refuse(`the dataset has no ${field}`, this.#column);
    const key = `${kind}:${field}` as InputKey;
    return this.#read(key, from, shape, dimensionOfInput(key, this.#names.units ?? {}), step);
  }

  /**
   * Operators: `grad(e)`, `d(e, y)`, `ddt(e)`, `filter(e)`, `mean(e)`, ...; null for other functions. An operator of a
   * field can also be evaluated at points, one of an expression only at nodes. The first that applies is taken: a filter
   * with its width, an operator that fields have of their own, another frame or dataset, a derivative along one axis,
   * grad, div or curl of a field or a component, fluc and DDt, which others make up, and last an operator of an expression at nodes.
   */
  #operator(name: string, tree: SyntaxTree, depth: number): Subexpression | null {
    if (!OPERATORS.has(name)) return null;
    const [argument, ...more] = tree.arguments as (SyntaxTree | null)[];
    const { column } = tree;
    if (argument == null) throw this.#refuse(`${name} takes ${OPERATORS.get(name)}`, column);
    if (name === "filter" && more.length > 0)
      return this.#filteredBy(this.#argumentOf(argument, depth), more.map(textOf), column);
    const ofField = more.length > 0 ? null : this.#fieldOperator(name, argument, column);
    if (ofField !== null) return ofField;
    if (name === "field") return this.#inOtherFrameOrDataset(argument, more, depth, column);
    const hasRightCount = name === "shift" ? more.length >= 2 : more.length === (/^d2?$/.test(name) ? 1 : 0);
    if (!hasRightCount) throw this.#refuse(`${name} takes ${OPERATORS.get(name)}`, column);
    const component = this.#componentOf(argument);
    const field = component?.field ?? this.#fieldOf(argument);
    if (name === "d" || name === "d2")
      return this.#axisDerivative(name, argument, field, component, more[0], depth, column);
    if (field !== undefined && (name === "grad" || name === "div" || name === "curl")) {
      const isVector = component === null && this.#names.fields[field] === 3;
      const gradient = this.#input("gradient", field, isVector ? "tensor" : "vector", 3 * (component?.index ?? 0));
      return name === "grad" ? gradient : this.#divOrCurl(name, gradient, column);
    }
    if (name === "fluc") {
      const value = this.compile(argument, depth + 1);
      const mean = this.#derivedInput("mean", { ...value, text: textOf(argument) }, value.shape);
      return this.#binary("-", value, mean, column);
    }
    const inner = this.#argumentOf(argument, depth);
    if (name === "DDt") {
      if (inner.shape === "tensor") throw this.#refuse("DDt takes a scalar or a vector, not a tensor", column);
      // ddt(e) + dot(grad(e), u), of a vector ddt(e) + grad(e) * u; written as a text it would be nested deeper.
      const [rate, slope] = ["ddt", "grad"].map((one) => this.#call({ ...tree, callee: { name: one } }, depth));
      const u = this.#name("velocity", column);
      const isVector = inner.shape === "vector";
      const carried = isVector ? this.#binary("*", slope, u, column) : this.#apply("dot", [slope, u], column);
      return this.#binary("+", rate, carried, column);
    }
    return this.#nodeOperator(name, inner, more, column);
  }

  /** An operator that needs the values of an expression at other nodes. */
  #nodeOperator(name: string, inner: Argument, more: readonly (SyntaxTree | null)[], column: number): Subexpression {
    switch (name) {
      case "grad":
        if (inner.shape === "tensor") throw this.#refuse("grad takes a scalar or a vector, not a tensor", column);
        return this.#derivedInput("gradient", inner, inner.shape === "scalar" ? "vector" : "tensor", { order: 1 });
      case "div":
      case "curl":
        if (inner.shape === "scalar") throw this.#refuse(`${name} takes a vector, not a scalar`, column);
        if (inner.shape === "vector")
          return this.#divOrCurl(name, this.#derivedInput("gradient", inner, "tensor", { order: 1 }), column);
        if (name === "curl") throw this.#refuse("curl takes a vector, not a tensor", column);
        // Component 9 i + 4 j of the gradient is dT[i][j]/dx[j].
        return this.#sumOverAxes(column, (j) =>
          this.#derivedInput("gradient", inner, "vector", { order: 1, from: 4 * j, step: 9 }),
        );
      case "lap":
        return this.#sumOverAxes(column, (a) =>
          this.#derivedInput("secondDerivative", inner, inner.shape, { order: 2, from: a, step: 3 }),
        );
      case "hess":
        if (inner.shape !== "scalar")
          throw this.#refuse(`hess of an expression takes a scalar, not a ${inner.shape}`, column);
        return this.#derivedInput("hessian", inner, "tensor", { order: 2 });
      case "ddt":
        return this.#rate(inner, column);
      case "shift":
        return this.#shifted(inner, more, column);
      case "filter":
        if (this.#names.isFiltered !== true)
          throw this.#refuse(
            "filter(...) of an expression needs gaussian, sharp or tophat, as in filter(u.x*p, gaussian:0.8)",
            column,
          );
        return this.#derivedInput("filtered", inner, inner.shape);
      case "mean":
        return this.#derivedInput("mean", inner, inner.shape);
      default: {
        // rms: the mean of (abs(e))^2, not of e^2: a level may hold a mean of e^2 itself.
        if (inner.shape !== "scalar")
          throw this.#refuse(`rms takes a scalar, not a ${inner.shape}: norm(...), or a component`, column);
        const square = this.#derivedInput("mean", { ...inner, text: `(abs(${inner.text}))^2` }, "scalar");
        const root = (block: BlockInputs) => [UNARY.sqrt(square.run(block)[0], block.scratch())];
        return partOf(`rms(${inner.text})`, "scalar", inner.dimension, root);
      }
    }
  }

  /** The argument of an operator that needs it at other nodes: its inputs are not inputs of the operator. */
  #argumentOf(tree: SyntaxTree, depth: number): Argument {
    const { inputs } = this.#shared;
    this.#shared.inputs = new Set();
    const { shape, dimension } = this.compile(tree, depth + 1);
    this.#shared.inputs = inputs;
    return { text: textOf(tree), shape, dimension };
  }

  /** An input derived from an expression: all of its components, or some. */
  #derivedInput(
    kind: InputKind,
    { text, dimension }: Argument,
    shape: Shape,
    { order = 0, timeOrder = 0, from = 0, step = 1, option = "" }: InputOptions = {},
  ): Subexpression {
    const key = `${kind}:${option}=${text}` as InputKey;
    const unit = dimensionOfDerivative(dimension, this.#names.units ?? {}, order, timeOrder);
    return this.#read(key, from, shape, unit, step);
  }

  #fieldOf(tree: SyntaxTree): string | undefined {
    return tree.type === "Identifier" ? fieldOfName(tree.name as string, this.#names) : undefined;
  }

  /** The derivatives `d(e, y)` and `d2(e, y)`. */
  #axisDerivative(
    name: "d" | "d2",
    argument: SyntaxTree,
    field: string | undefined,
    component: FieldComponent | null,
    letter: SyntaxTree | null | undefined,
    depth: number,
    column: number,
  ): Subexpression {
    const a = letter?.type === "Identifier" ? ["x", "y", "z"].indexOf(letter.name as string) : -1;
    if (a < 0) throw this.#refuse(`${name} takes ${OPERATORS.get(name)}`, column);
    if (field === undefined) {
      const inner = this.#argumentOf(argument, depth);
      const [kind, order] = name === "d" ? (["gradient", 1] as const) : (["secondDerivative", 2] as const);
      return this.#derivedInput(kind, inner, inner.shape, { order, from: a, step: 3 });
    }
    const shape = component === null && this.#names.fields[field] === 3 ? "vector" : "scalar";
    const index = component?.index ?? 0;
    return name === "d"
      ? this.#input("gradient", field, shape, 3 * index + a, 3)
      : this.#input("hessian", field, shape, 9 * index + 4 * a, 9);
  }

  #sumOverAxes(column: number, term: (axis: number) => Subexpression): Subexpression {
    return [0, 1, 2].map(term).reduce((sum, one) => this.#binary("+", sum, one, column));
  }

  #divOrCurl(name: "div" | "curl", gradient: Subexpression, column: number): Subexpression {
    const { key, shape, dimension, source } = gradient;
    if (shape !== "tensor" || source === undefined) throw this.#refuse(`${name} takes a vector, not a scalar`, column);
    const entry = (i: number, j: number) =>
      inputPart(source.key, source.from + source.step * (3 * i + j), "scalar", dimension);
    // tr(grad(u)) has the same value and key, but reads all nine entries.
    if (name === "div") return { ...this.#sumOverAxes(column, (i) => entry(i, i)), key: `tr(${key})` };
    const turn = (i: number, j: number) => this.#binary("-", entry(i, j), entry(j, i), column);
    return this.#array([turn(2, 1), turn(0, 2), turn(1, 0)], column);
  }

  /** The rate of change at a fixed place: that at a node, less what the node meets where the grid moves. */
  #rate(inner: Argument, column: number): Subexpression {
    const { frameVelocity = [], units } = this.#names;
    const dimension = dimensionOfPowers(units ?? {}, { velocity: 1 });
    const slope = (a: number) => this.#derivedInput("gradient", inner, inner.shape, { order: 1, from: a, step: 3 });
    const met = (speed: number, a: number) =>
      this.#binary("*", { ...constantPart(speed), dimension }, slope(a), column);
    const rate = this.#derivedInput("rate", inner, inner.shape, { timeOrder: 1 });
    return frameVelocity.reduce((sum, v, a) => (v === 0 ? sum : this.#binary("-", sum, met(v, a), column)), rate);
  }

  /** `field(e, 3)`, `field(e, "run2")` and `field(e, "run2", 3)`: an expression in another frame or dataset. */
  #inOtherFrameOrDataset(
    argument: SyntaxTree,
    more: readonly (SyntaxTree | null)[],
    depth: number,
    column: number,
  ): Subexpression {
    const given = more.map((one) => (one?.type === "Literal" ? one.value : null));
    const name = typeof given[0] === "string" ? (given.shift() as string) : null;
    const [frame = name === null ? null : ""] = given;
    if (given.length > 1 || !(Number.isInteger(frame) || (frame === "" && given.length === 0)))
      throw this.#refuse(`field takes ${OPERATORS.get("field")}`, column);
    const names = name === null ? undefined : this.#names.others?.[name];
    if (name !== null && names === undefined) throw this.#refuse(`here nothing is known of ${excerpt(name)}`, column);
    const there = names && compileExpression(textOf(argument), names, name as string);
    const inner = there ?? this.#argumentOf(argument, depth);
    if (there?.reads.some((key) => /^(?:mean|filter)/.test(key)))
      throw this.#refuse("a mean or a filter is not taken in another dataset: write mean(field(...))", column);
    return this.#derivedInput("frame", inner, inner.shape, { option: name === null ? `${frame}` : `${frame},${name}` });
  }

  /** `shift(e, x, 3)`: an expression at other nodes, shifted along one axis or several. */
  #shifted(inner: Argument, given: readonly (SyntaxTree | null)[], column: number): Subexpression {
    const texts = given.map((one) => textOf(one).replace(/^-\((\d+)\)$/, "-$1"));
    const letters = texts.filter((_, i) => i % 2 === 0);
    const numbers = texts.filter((_, i) => i % 2 === 1).map(Number);
    const isKnown = letters.every((one, i) => /^[xyz]$/.test(one) && letters.indexOf(one) === i);
    const isWhole =
      numbers.length === letters.length && numbers.every((n) => Number.isInteger(n) && Math.abs(n) <= 65_536);
    if (!isKnown || !isWhole) throw this.#refuse(`shift takes ${OPERATORS.get("shift")}`, column);
    const option = letters.map((one, i) => `${one}${numbers[i]}`).join(",");
    return this.#derivedInput("shift", inner, inner.shape, { option });
  }

  /** `filter(e, gaussian:0.8)`; letters after the width restrict the axes. */
  #filteredBy(inner: Argument, [filter, ...letters]: readonly string[], column: number): Subexpression {
    const [, kind, width] = /^(gaussian|sharp|tophat)\(([\d.e+-]+)\)$/.exec(filter) ?? [];
    if (kind === undefined || !(Number(width) > 0) || letters.some((one) => !/^[xyz]$/.test(one)))
      throw this.#refuse(`filter takes ${OPERATORS.get("filter")}`, column);
    const along = letters.length === 0 ? "xyz" : ["x", "y", "z"].filter((one) => letters.includes(one)).join("");
    return this.#derivedInput("filtered", inner, inner.shape, { option: `${kind},${Number(width)},${along}` });
  }

  /** Derivatives and means of fields by dedicated operations; null for others. */
  #fieldOperator(name: string, argument: SyntaxTree, column: number): Subexpression | null {
    if (!["hess", "lap", "filter"].includes(name)) return null;
    const argumentName = argument.type === "Identifier" ? (argument.name as string) : "";
    const field = fieldOfName(argumentName, this.#names);
    if (name === "filter") return this.#filteredField(argument, argumentName, field, column);
    if (name === "lap" && argumentName === "A") return this.#input("laplacianOfGradient", "velocity", "tensor");
    const part = this.#componentOf(argument);
    if (name === "hess" && part !== null) return this.#input("hessian", part.field, "tensor", 9 * part.index);
    if (field === undefined) return null;
    const isVector = this.#names.fields[field] === 3;
    if (name === "lap")
      return isVector ? this.#input("laplacian", field, "vector") : this.#formula(`tr(hess(${field}))`, "lap", column);
    if (!isVector) return this.#input("hessian", field, "tensor");
    throw this.#refuse(
      `hess(${argumentName}) has three tensors: hess(${argumentName})[0], hess(${argumentName})[1], hess(${argumentName})[2]`,
      column,
    );
  }

  /** The component `u.x` or `u[0]` of a vector field; null for anything else. */
  #componentOf(tree: SyntaxTree): FieldComponent | null {
    if (tree.type !== "MemberExpression") return null;
    const [field, index] = [this.#fieldOf(tree.object as SyntaxTree), indexIn(tree)];
    return field === undefined || this.#names.fields[field] !== 3 || index < 0 ? null : { field, index };
  }

  /** `hess(u)[0]`, the Hessian of a component; null for other members. */
  #rowOfHessian(tree: SyntaxTree): Subexpression | null {
    const { type, callee, arguments: given } = tree.object as SyntaxTree;
    if (!tree.computed || type !== "CallExpression" || (callee as SyntaxTree).name !== "hess") return null;
    const [component] = given as SyntaxTree[];
    const part = component === undefined ? null : this.#componentOf({ ...tree, object: component });
    return part === null ? null : this.#input("hessian", part.field, "tensor", 9 * part.index);
  }

  #filteredField(
    argument: SyntaxTree,
    argumentName: string,
    field: string | undefined,
    column: number,
  ): Subexpression | null {
    if (!this.#names.isFiltered) throw this.#refuse("filter(...) needs a filter, such as gaussian:0.8", column);
    if (field !== undefined)
      return this.#input("filtered", field, this.#names.fields[field] === 3 ? "vector" : "scalar");
    // At walls a filtered derivative differs from the derivative of the filtered field, which the named quantities are.
    if (argumentName === "A") return this.#input("filteredGradient", "velocity", "tensor");
    if (["S", "W", "omega"].includes(argumentName))
      return this.#formula(
        (formulaOf(argumentName) as string).replaceAll("A", "filter(A)"),
        `filter(${argumentName})`,
        column,
      );
    const { callee, arguments: [inner] = [] } = argument as { callee?: SyntaxTree; arguments?: SyntaxTree[] };
    const innerField = inner?.type === "Identifier" ? fieldOfName(inner.name as string, this.#names) : undefined;
    if (callee?.name === "grad" && innerField !== undefined && this.#names.isFiltered === "box")
      return this.#input("filteredGradient", innerField, this.#names.fields[innerField] === 3 ? "tensor" : "vector");
    const component = this.#componentOf(argument);
    return component === null ? null : this.#input("filtered", component.field, "scalar", component.index);
  }

  #unknownName(name: string, column: number): RequestError {
    if (name === "nu")
      return this.#refuse(
        "nu is not known: the dataset states no viscosity; 2*ddot(S,S) is the dissipation over it",
        column,
      );
    const names = nameList(this.#names);
    const list = REPLACED.get(name) ?? `names are ${names.join(", ")}`;
    return this.#refuse(`nothing has the name ${excerpt(name)}; ${list}`, column, nearestName(name, names));
  }

  #unary(operator: string, a: Subexpression, column: number): Subexpression {
    if (operator === "+") return a;
    const run = UNARY[operator];
    if (run === undefined || !"-!".includes(operator)) throw this.#refuse(`there is no operator ${operator}`, column);
    if (operator === "!") this.#requireScalars(operator, [a], column);
    const negative = operator === "-" && a.constant !== undefined ? -a.constant : undefined;
    return partOf(
      `${operator}(${a.key})`,
      a.shape,
      operator === "!" ? "number" : a.dimension,
      (block) => a.run(block).map((one) => run(one, block.scratch())),
      negative,
    );
  }

  #binary(operator: string, a: Subexpression, b: Subexpression, column: number): Subexpression {
    const key = `(${a.key} ${operator} ${b.key})`;
    if (operator === "^") return this.#power(key, a, b, column);
    const run = BINARY[operator];
    if (run === undefined) throw this.#refuse(`there is no operator ${operator}`, column);
    const multiplied = productOf(a.dimension, b.dimension, operator === "/" ? -1 : 1);
    if (a.constant !== undefined && b.constant !== undefined && (operator === "*" || operator === "/")) {
      const value = operator === "*" ? a.constant * b.constant : a.constant / b.constant;
      return partOf(key, "scalar", multiplied, ({ scratch }) => [scratch().fill(value)], value);
    }
    if (a.shape === "tensor" && b.shape !== "scalar" && operator === "*")
      return partOf(key, b.shape, multiplied, (block) => product(a.run(block), b.run(block), block.scratch));
    const [whole, scalar] = operator === "*" && b.shape !== "scalar" ? [b, a] : [a, b];
    if (scalar.shape === "scalar" && (operator === "*" || operator === "/"))
      return partOf(key, whole.shape, multiplied, (block) => {
        const [factor] = scalar.run(block);
        return eachOnce(whole.run(block), (one) => run(one, factor, block.scratch()));
      });
    const isSum = operator === "+" || operator === "-";
    if (!isSum) this.#requireScalars(operator, [a, b], column);
    if (a.shape !== b.shape) throw this.#refuse(`${operator} joins a ${a.shape} and a ${b.shape}`, column);
    const isLogical = operator === "&&" || operator === "||";
    const common = isLogical ? "number" : this.#commonUnit(`${operator} joins`, [a, b], column);
    if (operator === "+")
      return partOf(key, a.shape, common, (block) => sums(a.run(block), b.run(block), block.scratch));
    return partOf(key, a.shape, isSum ? common : "number", (block) => {
      const right = b.run(block);
      return a.run(block).map((one, c) => run(one, right[c], block.scratch()));
    });
  }

  #commonUnit(what: string, parts: readonly Subexpression[], column: number): UnitPowers {
    const common = commonOf(parts.map(({ dimension }) => dimension));
    if (common !== undefined) return common;
    const units = [...new Set(parts.map(({ dimension }) => dimensionText(dimension)))].join(" and ");
    throw this.#refuse(`${what} ${units}`, column);
  }

  #power(key: string, a: Subexpression, b: Subexpression, column: number): Subexpression {
    const exponent = b.constant ?? Number.NaN;
    if (!(Math.abs(exponent) <= MAX_EXPONENT))
      throw this.#refuse(`an exponent is a constant from -${MAX_EXPONENT} to ${MAX_EXPONENT}`, column);
    this.#requireScalars("^", [a], column);
    if (commonOf([b.dimension, new Map()]) === undefined)
      throw this.#refuse(`an exponent has no unit, and this one is in ${dimensionText(b.dimension)}`, column);
    const raise = Number.isInteger(exponent) ? power : realPower;
    const constant =
      a.constant === undefined ? undefined : raise(Float64Array.of(a.constant), exponent, new Float64Array(1))[0];
    const dimension = powerOf(a.dimension, exponent);
    return partOf(key, "scalar", dimension, (block) => [raise(a.run(block)[0], exponent, block.scratch())], constant);
  }

  #requireScalars(what: string, parts: readonly Subexpression[], column: number): void {
    const other = parts.find(({ shape }) => shape !== "scalar");
    if (other !== undefined) throw this.#refuse(`${what} takes scalars, not a ${other.shape}`, column);
  }

  #conditional(test: Subexpression, yes: Subexpression, no: Subexpression, column: number): Subexpression {
    this.#requireScalars("?", [test], column);
    if (yes.shape !== no.shape) throw this.#refuse(`the two sides of : are a ${yes.shape} and a ${no.shape}`, column);
    const key = `(${test.key} ? ${yes.key} : ${no.key})`;
    const common = this.#commonUnit("the two sides of : are", [yes, no], column);
    return partOf(key, yes.shape, common, (block) =>
      choose(test.run(block)[0], yes.run(block), no.run(block), block.scratch),
    );
  }

  #call(tree: SyntaxTree, depth: number): Subexpression {
    const { name = "" } = tree.callee as { name?: string };
    const operated = this.#operator(name, tree, depth);
    if (operated !== null) return operated;
    const known = [...FUNCTIONS.keys(), ...OPERATORS.keys()];
    if (!known.includes(name))
      throw this.#refuse(`there is no function ${excerpt(name)}; functions are ${known.join(", ")}`, tree.column);
    return this.#apply(name, this.#compileAll(tree.arguments, depth), tree.column);
  }

  #apply(name: string, given: readonly Subexpression[], column: number): Subexpression {
    const row = FUNCTIONS.get(name) ?? [];
    const shapes = given.map(({ shape }) => shape).join(", ");
    const form = row.find(({ takes }) => takes.join(", ") === shapes);
    if (form === undefined) {
      const takes = row.map(({ takes }) => takes.join(", ")).join(" or ");
      throw this.#refuse(`${name} takes ${takes}, not ${shapes || "nothing"}`, column);
    }
    const key = `${name}(${given.map((one) => one.key).join(", ")})`;
    const dimension = this.#dimensionOf(name, given, column);
    return partOf(key, form.gives, dimension, (block) =>
      form.run(block.scratch, ...given.map((one) => one.run(block))),
    );
  }

  #dimensionOf(name: string, given: readonly Subexpression[], column: number): UnitPowers {
    const [a, b] = given as [Subexpression, Subexpression?];
    if (name === "sqrt") return powerOf(a.dimension, 1 / 2);
    if (name === "det") return powerOf(a.dimension, 3);
    if (["dot", "cross", "ddot"].includes(name)) return productOf(a.dimension, (b as Subexpression).dimension);
    if (name === "sign" || name.startsWith("eigvec")) return "number";
    if (["exp", "log", "sin", "cos"].includes(name)) {
      if (commonOf([a.dimension, new Map()]) !== undefined) return "number";
      const problem = `${name} takes a number without unit, not ${dimensionText(a.dimension)}`;
      throw this.#refuse(`${problem}: divide by a constant with a unit, such as 1[m]`, column);
    }
    const common = this.#commonUnit(`${name} takes parts of one unit, not`, given, column);
    return name === "atan2" ? "number" : common;
  }

  #array(parts: readonly Subexpression[], column: number): Subexpression {
    const [first] = parts;
    const shape = first?.shape === "scalar" ? "vector" : "tensor";
    if (parts.length !== 3 || first?.shape === "tensor" || parts.some((one) => one.shape !== first?.shape))
      throw this.#refuse("brackets hold three scalars or three vectors", column);
    const key = `[${parts.map((one) => one.key).join(", ")}]`;
    const dimension = this.#commonUnit("brackets hold", parts, column);
    return partOf(key, shape, dimension, (block) => parts.flatMap((one) => one.run(block)));
  }

  /** A component by `.x` or `[0]`; `[0]` of a tensor is its first row. */
  #member(tree: SyntaxTree, object: Subexpression): Subexpression {
    const { column } = tree;
    const index = indexIn(tree);
    if (object.shape === "scalar") throw this.#refuse("a scalar has no components", column);
    if (object.shape === "tensor" && (index < 0 || !tree.computed))
      throw this.#refuse("components of a tensor are [0][0] to [2][2]", column);
    if (index < 0) throw this.#refuse("components of a vector are .x, .y and .z, or [0], [1] and [2]", column);
    const size = object.shape === "tensor" ? 3 : 1;
    if (object.source !== undefined) {
      const { key, step } = object.source;
      const from = object.source.from + step * size * index;
      const part = inputPart(key, from, size === 3 ? "vector" : "scalar", object.dimension, step);
      const meanOf = object.meanOf && this.#member(tree, object.meanOf);
      return meanOf === undefined ? part : { ...part, key: meanOf.key, meanOf };
    }
    const key = `${object.key}[${index}]`;
    const pick = (block: BlockInputs): Components => object.run(block).slice(size * index, size * (index + 1));
    return partOf(key, size === 3 ? "vector" : "scalar", object.dimension, pick);
  }
}

function constantPart(value: number): Subexpression {
  return partOf(String(value), "scalar", "number", ({ scratch }) => [scratch().fill(value)], value);
}

/** The index of a component by `.x` or `[0]`; -1 for another one. */
function indexIn({ computed, property }: SyntaxTree): number {
  const { name, value } = property as SyntaxTree;
  return computed ? [0, 1, 2].indexOf(value as number) : ["x", "y", "z"].indexOf(name as string);
}

interface FieldComponent {
  readonly field: string;
  readonly index: number;
}

/** An input derived from an expression: orders of differentiation, first component and stride, filter option. */
interface InputOptions extends Partial<Readonly<Record<"order" | "timeOrder" | "from" | "step", number>>> {
  readonly option?: string;
}

interface Argument extends Pick<Subexpression, "shape" | "dimension"> {
  readonly text: string;
}

/** The arguments of each operator, as messages name them. */
const OPERATORS: ReadonlyMap<string, string> = new Map([
  ...["grad", "div", "curl", "lap", "hess", "ddt", "DDt", "mean", "rms", "fluc"].map(
    (name) => [name, "one quantity"] as const,
  ),
  ["d", "a quantity and an axis, as in d(u.x, y)"],
  ["d2", "a quantity and an axis, as in d2(u.x, y)"],
  ["shift", "a quantity, an axis and a number of nodes, as in shift(u.x, x, 3)"],
  ["field", 'a quantity, another dataset and a stored frame, or one of both, as in field(p, 3) or field(p, "run2", 3)'],
  ["filter", "a quantity, a filter if there is another one, and axes, as in filter(u.x*p, gaussian:0.8, x, z)"],
]);
