/** A call as a TypeScript module with the typed client. */
import { type Endpoint, hasTimes, parameterText, pointTexts, type Recipe, timesOf } from "./recipe.js";

function literal(value: string | number | readonly number[]): string {
  return typeof value === "string" ? JSON.stringify(value) : parameterText(value);
}

export function typescript({ call }: Recipe, { base }: Endpoint): string {
  const several = hasTimes(call);
  const members = Object.entries(call.parameters).map(([name, value]) =>
    several && name === "time" ? "  time," : `  ${name}: ${literal(value)},`,
  );
  const query = [
    `client.${call.operation}({`,
    `  dataset: ${JSON.stringify(call.dataset)},`,
    ...members,
    "  points,",
    "});",
  ];
  const head = [
    'import { connect } from "fieldprobe";',
    "",
    `const client = await connect("${base.replace(/\/$/, "")}");`,
    "const points: [number, number, number][] = [",
    ...pointTexts(call).map((point) => `  [${point.join(", ")}],`),
    "];",
  ];
  if (!several)
    return [...head, `const answer = await ${query.join("\n")}`, "console.log(answer.values);", ""].join("\n");
  const loop = query
    .map((line) => `  ${line}`)
    .join("\n")
    .trimStart();
  return [
    ...head,
    `for (const time of [${timesOf(call)
      .map((time) => parameterText(time))
      .join(", ")}]) {`,
    `  const answer = await ${loop}`,
    "  console.log(time, answer.values);",
    "}",
    "",
  ].join("\n");
}
