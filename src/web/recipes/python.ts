/** This file writes a query as a Python script with zeep. */
import { dialectOf } from "../../operations.js";
import { type Endpoint, hasTimes, parameterText, pointTexts, type Recipe, timesOf } from "./recipe.js";

function literal(value: string | number | readonly number[]): string {
  return typeof value === "string" ? JSON.stringify(value) : parameterText(value);
}

export function python({ query, note }: Recipe, { base, soap, token }: Endpoint): string {
  const several = hasTimes(query);
  const members = Object.entries(query.parameters).map(
    ([name, value]) => `    ${name}=${several && name === "time" ? "time" : literal(value)},`,
  );
  const points = pointTexts(query).map((point) => `    (${point.join(", ")}),`);
  const statement = [
    `client.service.${query.operation}(`,
    ...(token ? ['    authToken="YOUR-TOKEN",'] : []),
    `    dataset=${JSON.stringify(query.dataset)},`,
    ...members,
    '    points={"Point3": [dict(zip("xyz", point)) for point in points]},',
    ")",
  ];
  const head = [
    ...(note === undefined ? [] : [`# ${note}`]),
    "from zeep import Client",
    "",
    `client = Client("${base}${soap}?wsdl${dialectOf(query.operation) === "later" ? "=later" : ""}")`,
    "points = [",
    ...points,
    "]",
  ];
  if (!several) return [...head, `answer = ${statement.join("\n")}`, "print(answer)", ""].join("\n");
  const loop = statement
    .map((line) => `    ${line}`)
    .join("\n")
    .trimStart();
  return [
    ...head,
    `for time in (${timesOf(query)
      .map((time) => parameterText(time))
      .join(", ")}):`,
    `    answer = ${loop}`,
    "    print(time, answer)",
    "",
  ].join("\n");
}
