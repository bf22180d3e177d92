/** This file writes a query as a TypeScript module with the typed client. */
import { type Endpoint, hasTimes, parameterText, pointTexts, type Recipe, timesOf } from "./recipe.js";

function literal(value: string | number | readonly number[]): string {
  return typeof value === "string" ? JSON.stringify(value) : parameterText(value);
}

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
  const loop = statement
    .map((line) => `  ${line}`)
    .join("\n")
    .trimStart();
  return [
    ...head,
    `for (const time of [${timesOf(query)
      .map((time) => parameterText(time))
      .join(", ")}]) {`,
    `  const answer = await ${loop}`,
    "  console.log(time, answer.values);",
    "}",
    "",
  ].join("\n");
}
