/** Reference page from the OpenAPI document of an interface: plain markup by subject, without scripts. */

/** Part of an OpenAPI document; its members depend on its position. */
interface Node {
  readonly [member: string]: unknown;
}

export interface ApiExample {
  readonly address: string;
  readonly accept?: string;
  readonly body?: object;
  /** The answer, shortened; absent if it is not text. */
  readonly answer?: string;
}

export interface ApiGroup {
  readonly name: string;
  readonly has: (address: string) => boolean;
}

const STYLE =
  "body{font:1rem/1.5 system-ui,sans-serif;color:#1b1b1b;background:#fff;max-width:60rem;margin:0 auto;padding:1rem}" +
  "a{color:#0b4f8a}code,pre{font:.875rem/1.45 ui-monospace,monospace}pre{background:#f3f4f6;padding:.75rem;overflow:auto}" +
  "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.25rem .5rem;border-bottom:1px solid #c8ccd2}" +
  "article{border-top:2px solid #c8ccd2;margin-top:1.5rem}h3 code{font-size:1rem}nav ul{columns:2}";

const escaped = (text: unknown): string =>
  String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const node = (value: unknown): Node => (value ?? {}) as Node;

function resolved(document: Node, schema: Node): Node {
  const name = /^#\/components\/schemas\/(.*)$/.exec(String(schema.$ref ?? ""))?.[1];
  return name === undefined ? schema : node(node(node(document.components).schemas)[name]);
}

function typeOf(document: Node, given: Node): string {
  const schema = resolved(document, given);
  const choices = (schema.anyOf ?? schema.oneOf) as readonly Node[] | undefined;
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.map(String).join(", ")}`;
  if (choices !== undefined) return [...new Set(choices.map((one) => typeOf(document, one)))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(document, node(schema.items))}`;
  return String(schema.type ?? "any");
}

/** Members of the address of an operation, and of its JSON body. */
function memberRows(document: Node, operation: Node): string[] {
  const parameters = (operation.parameters ?? []) as readonly Node[];
  const row = (name: unknown, place: unknown, schema: Node, description: unknown): string =>
    `<tr><th scope="row"><code>${escaped(name)}</code></th><td>${escaped(place)}</td><td>${escaped(typeOf(document, schema))}</td><td>${escaped(description ?? "")}</td></tr>`;
  const json = node(node(node(operation.requestBody).content)["application/json"]);
  const body = resolved(document, node(json.schema));
  const forms = ((body.anyOf as readonly Node[] | undefined) ?? [body]).map((form) => resolved(document, form));
  const members = new Map(forms.flatMap((form) => Object.entries(node(form.properties))));
  return [
    ...parameters.map(({ name, in: place, schema, description }) =>
      row(name, place, node(schema), description ?? node(schema).description),
    ),
    ...[...members].map(([name, schema]) => row(name, "body", node(schema), node(schema).description)),
  ];
}

function commandOf(method: string, { address, accept, body }: ApiExample): string {
  const words = ["curl", "-s"];
  if (method !== "get" && (method !== "post" || body === undefined)) words.push("-X", method.toUpperCase());
  if (accept !== undefined) words.push("-H", `'Accept: ${accept}'`);
  if (body !== undefined) words.push("-H", "'Content-Type: application/json'", "-d", `'${JSON.stringify(body)}'`);
  return [...words, `'${address}'`].join(" ");
}

function article(document: Node, method: string, address: string, operation: Node, example?: ApiExample): string {
  const rows = memberRows(document, operation);
  const responses = Object.entries(node(operation.responses));
  const types = responses.flatMap(([status, response]) =>
    Object.keys(node(node(response).content)).map((type) => `${status} ${type}`),
  );
  const heading = `<h3 id="${escaped(`${method}-${address}`.replaceAll(/\W+/g, "-"))}"><code>${method.toUpperCase()} ${escaped(address)}</code></h3>`;
  const text = [operation.summary, operation.description].filter((one) => one !== undefined && one !== "");
  const table =
    rows.length === 0
      ? ""
      : `<table><thead><tr><th scope="col">Member</th><th scope="col">Place</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
  const shown =
    example === undefined
      ? ""
      : `<h4>Request</h4><pre tabindex="0">${escaped(commandOf(method, example))}</pre>` +
        (example.answer === undefined ? "" : `<h4>Answer</h4><pre tabindex="0">${escaped(example.answer)}</pre>`);
  return `<article>${heading}<p>${text.map((one) => escaped(String(one).replace(/\.?$/, "."))).join(" ")}</p>${table}<p>Answers: ${escaped(types.join(", "))}</p>${shown}</article>`;
}

/**
 * @param source address of the document @param groups in their order; operations without a group come last
 * @param example of an operation, by method and address
 */
export function referencePage(
  given: object,
  source: string,
  groups: readonly ApiGroup[],
  example: (method: string, address: string) => ApiExample | undefined,
): string {
  const document = node(given);
  const { title, description, version } = node(document.info);
  const operations = Object.entries(node(document.paths)).flatMap(([address, methods]) =>
    Object.entries(node(methods)).map(([method, operation]) => ({ address, method, operation: node(operation) })),
  );
  const all = [...groups, { name: "Other", has: () => true }];
  const sections = all.map(({ name }, i) => {
    const own = operations.filter(({ address }) => all.findIndex((group) => group.has(address)) === i);
    const id = escaped(name.toLowerCase().replaceAll(/\W+/g, "-"));
    const articles = own.map(({ method, address, operation }) =>
      article(document, method, address, operation, example(method, address)),
    );
    return { name, id, html: articles.join(""), count: own.length };
  });
  const used = sections.filter(({ count }) => count > 0);
  const links = used.map(({ name, id, count }) => `<li><a href="#${id}">${escaped(name)}</a> (${count})</li>`);
  const parts = used.map(({ name, id, html }) => `<section><h2 id="${id}">${escaped(name)}</h2>${html}</section>`);
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${escaped(title)} API</title><style>${STYLE}</style></head><body><header><p><strong>fieldprobe</strong> ${escaped(version)}</p>` +
    `<h1>${escaped(title)} API</h1><p>${escaped(description)} <a href="${escaped(source)}">OpenAPI document</a></p></header>` +
    `<nav aria-label="Subjects"><ul>${links.join("")}</ul></nav><main>${parts.join("")}</main></body></html>\n`
  );
}
