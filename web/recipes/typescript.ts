/** This file writes a query as a TypeScript module with the typed client. */
import { type Endpoint, hasTimes, inLoop, literal, pointTexts, type Recipe, timeTexts } from "./recipe.js";

export function typescript({ query, note, get }: Recipe, { base, token }: Endpoint): string {
  if (get !== undefined) return plane(get, note, base, token);
  const several = hasTimes(query);
  const members = Object.entries(query.parameters).map(([name, value]) =>
    several && name === "time" ? "  time," : `  ${name}: ${literal(value)},`,
  );
  const statement = [
    `client.${query.operation}({`,
    `  dataset: ${JSON.stringify(query.dataset)},`,
    ...members,
    "  points,",
    "});",
  ];
  const head = [
    ...(note === undefined ? [] : [`// ${note}`]),
    'import { connect } from "fieldprobe";',
    "",
    `const client = await connect("${base.replace(/\/$/, "")}"${token ? ', { token: "YOUR-TOKEN" }' : ""});`,
    "const points: [number, number, number][] = [",
    ...pointTexts(query).map((point) => `  [${point.join(", ")}],`),
    "];",
  ];
  if (!several)
    return [...head, `const answer = await ${statement.join("\n")}`, "console.log(answer.values);", ""].join("\n");
  return [
    ...head,
    `for (const time of [${timeTexts(query)}]) {`,
    `  const answer = await ${inLoop(statement, "  ")}`,
    "  console.log(time, answer.values);",
    "}",
    "",
  ].join("\n");
}

/** The request for a plane by its grid, which is shorter than its points: rows of values, the lowest first. */
function plane(get: string, note: string | undefined, base: string, token: boolean): string {
  const headers = token ? ', { headers: { authorization: "Bearer YOUR-TOKEN" } }' : "";
  return [
    ...(note === undefined ? [] : [`// ${note}`]),
    `const response = await fetch("${base}${get}"${headers});`,
    "if (!response.ok) throw new Error(await response.text());",
    "const values = new Float32Array(await response.arrayBuffer());",
    'console.log(response.headers.get("fieldprobe-nodes"), values);',
    "",
  ].join("\n");
}
