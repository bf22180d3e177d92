/** A call as a Python script with zeep. */
import { type Endpoint, hasTimes, parameterText, pointTexts, type Recipe, timesOf } from "./recipe.js";

function literal(value: string | number | readonly number[]): string {
  return typeof value === "string" ? JSON.stringify(value) : parameterText(value);
}

export function python({ call }: Recipe, { base, soap }: Endpoint): string {
  const several = hasTimes(call);
  const members = Object.entries(call.parameters).map(
    ([name, value]) => `    ${name}=${several && name === "time" ? "time" : literal(value)},`,
  );
  const points = pointTexts(call).map((point) => `    (${point.join(", ")}),`);
  const query = [
    `client.service.${call.operation}(`,
    `    dataset=${JSON.stringify(call.dataset)},`,
    ...members,
    '    points={"Point3": [dict(zip("xyz", point)) for point in points]},',
    ")",
  ];
  const head = ["from zeep import Client", "", `client = Client("${base}${soap}?wsdl")`, "points = [", ...points, "]"];
  if (!several) return [...head, `answer = ${query.join("\n")}`, "print(answer)", ""].join("\n");
  const loop = query
    .map((line) => `    ${line}`)
    .join("\n")
    .trimStart();
  return [
    ...head,
    `for time in (${timesOf(call)
      .map((time) => parameterText(time))
      .join(", ")}):`,
    `    answer = ${loop}`,
    "    print(time, answer)",
    "",
  ].join("\n");
}
