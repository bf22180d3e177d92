/** This file writes a query as a Python script with zeep. */
import { dialectOf } from "../../operations.js";
import { type Endpoint, hasTimes, inLoop, literal, pointTexts, type Recipe, timeTexts } from "./recipe.js";

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
  return [
    ...head,
    `for time in (${timeTexts(query)}):`,
    `    answer = ${inLoop(statement, "    ")}`,
    "    print(time, answer)",
    "",
  ].join("\n");
}
