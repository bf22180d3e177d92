/** This file writes a query as a SOAP 1.1 envelope. */
import { dialectOf } from "../../src/shared/operations.js";
import { operationOf } from "../state/point-query.js";
import { type Endpoint, hasTimes, parameterText, pointTexts, type Recipe, timesOf } from "./recipe.js";

/** Text safe inside an element. */
function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export function soapXml(recipe: Recipe, { base, soap, namespace, token }: Endpoint): string {
  const { query, note } = recipe;
  if (dialectOf(query.operation) === null)
    return "<!-- SOAP has no operation for named fields; choose another language -->\n";
  const row = operationOf(query);
  const lines: string[] = [];
  for (const member of row.request) {
    if (member.name === "authToken" && token) lines.push("<authToken>YOUR-TOKEN</authToken>");
    else if (member.name === "dataset") lines.push(`<dataset>${escapeText(query.dataset)}</dataset>`);
    else if (member.name === "points") {
      lines.push("<points>");
      for (const [x, y, z] of pointTexts(query)) lines.push(`  <Point3><x>${x}</x><y>${y}</y><z>${z}</z></Point3>`);
      lines.push("</points>");
    } else if (Object.hasOwn(query.parameters, member.name)) {
      const value = member.name === "time" ? timesOf(query)[0] : query.parameters[member.name];
      lines.push(`<${member.name}>${escapeText(parameterText(value as string | number))}</${member.name}>`);
    }
  }
  const notes = [
    ...(note === undefined ? [] : [note]),
    `POST ${base}${soap}`,
    `Content-Type: text/xml; charset=utf-8`,
    `SOAPAction: "${namespace}${query.operation}"`,
    ...(hasTimes(query) ? [`one request for each of the ${timesOf(query).length} times; this is the first`] : []),
  ];
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    `<!-- ${notes.map((note) => note.replaceAll(/-(?=-)/g, "- ")).join("\n     ")} -->`,
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">',
    "  <soap:Body>",
    `    <${query.operation} xmlns="${escapeText(namespace)}">`,
    ...lines.map((line) => `      ${line}`),
    `    </${query.operation}>`,
    "  </soap:Body>",
    "</soap:Envelope>",
    "",
  ].join("\n");
}
