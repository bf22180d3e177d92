/** `openApiPage` writes an OpenAPI document as a page of Markdown: operations by subject, with members and examples. */

const METHODS = ["get", "post", "put", "patch", "delete"];
/** Members of members are listed as deep as this. */
const DEPTH = 3;

/** Text in a cell of a table: one line, without what Markdown or the page would read as markup. */
const cell = (text) =>
  String(text ?? "")
    .replace(/\s+/g, " ")
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replaceAll("{{", "{ {");
const code = (text) => `\`${String(text).replaceAll("|", "\\|")}\``;

/** A schema in a few words: its type, values or bounds. */
function kind(schema = {}) {
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return [...new Set(union.map(kind))].join(" or ");
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((value) => code(value)).join(", ");
  if (schema.type === "array") return `array of ${kind(schema.items)}`;
  const [low, high] = [schema.minimum ?? schema.minLength, schema.maximum ?? schema.maxLength];
  const bounds = [low === undefined ? "" : ` from ${low}`, high === undefined ? "" : ` to ${high}`].join("");
  return `${[schema.type ?? "any"].flat().join(" or ")}${bounds}`;
}

/** Rows of a table for the members of a schema, those of objects inside of it included. */
function rows(schema, prefix = "", depth = 0) {
  if (depth >= DEPTH) return [];
  const inside = schema?.type === "array" ? schema.items : schema;
  return Object.entries(inside?.properties ?? {}).flatMap(([name, member]) => {
    const path = prefix + name;
    const need = inside.required?.includes(name) ? "yes" : "";
    const row = `| ${code(path)} | ${kind(member)} | ${need} | ${cell(member.description)} |`;
    return [row, ...rows(member, `${path}.`, depth + 1)];
  });
}

const table = (title, lines) =>
  lines.length === 0
    ? []
    : ["", `**${title}**`, "", "| Name | Type | Required | Meaning |", "|---|---|---|---|", ...lines];

function examplesOf(content = {}) {
  return Object.entries(content).flatMap(([type, { example, examples, schema }]) => {
    const value = example ?? Object.values(examples ?? {})[0]?.value ?? schema?.example ?? schema?.examples?.[0];
    return value === undefined ? [] : [{ type, value }];
  });
}

function exampleLines(title, content) {
  return examplesOf(content).flatMap(({ type, value }) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
    return ["", `${title} (${code(type)}):`, "", "```json", text, "```"];
  });
}

function operationLines(path, method, operation) {
  const parameters = (operation.parameters ?? []).map(
    ({ name, schema, required, description }) =>
      `| ${code(name)} | ${kind(schema)} | ${required ? "yes" : ""} | ${cell(description ?? schema?.description)} |`,
  );
  const body = operation.requestBody?.content ?? {};
  const [first] = Object.values(body);
  const answers = Object.entries(operation.responses ?? {});
  const [, good] = answers.find(([status]) => status.startsWith("2")) ?? [];
  return [
    `### ${operation.summary ?? path}`,
    "",
    code(`${method.toUpperCase()} ${path}`),
    "",
    cell(operation.description ?? ""),
    ...table("Parameters", parameters),
    ...table("Body", rows(first?.schema)),
    ...(Object.keys(body).length > 1 ? ["", `Bodies are sent as ${Object.keys(body).map(code).join(", ")}.`] : []),
    ...exampleLines("Example of a body", body),
    "",
    "| Status | Answer |",
    "|---|---|",
    ...answers.map(([status, { description }]) => `| ${status} | ${cell(description)} |`),
    ...exampleLines("Example of an answer", good?.content),
    "",
  ];
}

/** The page of a document that the service has at `path`. */
export function openApiPage({ info, paths }, path) {
  const subjects = new Map();
  for (const [at, methods] of Object.entries(paths)) {
    for (const method of METHODS.filter((name) => methods[name] !== undefined)) {
      const operation = methods[method];
      const subject = operation.tags?.[0] ?? "General";
      if (!subjects.has(subject)) subjects.set(subject, []);
      subjects.get(subject).push(...operationLines(at, method, operation));
    }
  }
  return [
    `# ${info.title}, version ${info.version}`,
    "",
    `${cell(info.description)} A running service has this reference as an OpenAPI document at ${code(path)}.`,
    "",
    ...[...subjects].flatMap(([subject, lines]) => [`## ${subject}`, "", ...lines]),
  ].join("\n");
}
