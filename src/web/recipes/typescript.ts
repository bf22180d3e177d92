/** This file writes a query as a TypeScript module with the typed client. */
import { type Endpoint, hasTimes, inLoop, literal, pointTexts, type Recipe, timeTexts } from "./recipe.js";

export function typescript({ query, note }: Recipe, { base, token }: Endpoint): string {
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
