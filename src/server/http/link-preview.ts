/** Title and picture for previews of links to the page: the plane that the link shows, by `grid` as PNG. */
import { orElse } from "../../shared/errors.js";
import { timesOf } from "./describe.js";
import type { Service } from "./service.js";

/** Nodes that derivatives need along each axis. */
const MIN_DERIVATIVE_NODES = 5;
const MAX_TEXT = 200;
/** Samples of the picture along each axis. */
const SAMPLES = "128";

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character]);

function numberOr(text: string | null, fallback: number): number {
  const value = text === null || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : fallback;
}

/** Elements for the head of the page; empty for unknown or refused datasets, and for those that are not open to all. */
export function previewOf({ config, engine, baseUrl }: Service, name: string, search: string): string {
  const dataset = orElse(() => engine.find(name), undefined);
  if (dataset === undefined || (config.tokens !== null && config.anonymous !== true)) return "";
  const query = new URLSearchParams(search);
  const hasDerivatives = dataset.axes.every(({ nodes }) => nodes >= MIN_DERIVATIVE_NODES);
  const ofVelocity = hasDerivatives ? "norm(omega)" : "norm(u)";
  const defaultWhat = dataset.fields.velocity ? ofVelocity : (Object.keys(dataset.fields)[0] ?? "");
  const what = (query.get("what") ?? defaultWhat).slice(0, MAX_TEXT);
  const normal = /^slice:([xy])$/.exec(query.get("view.show") ?? "")?.[1] ?? "z";
  const { origin, spacing, nodes, coordinates } = dataset.axes["xyz".indexOf(normal) as 0];
  const middle = coordinates?.[nodes >> 1] ?? origin + (nodes >> 1) * spacing;
  const at = numberOr(query.get(normal), middle);
  const stored = timesOf(dataset.time);
  const time = numberOr(query.get("time"), stored[stored.length >> 1]);
  const question = { what, [normal]: String(at), time: String(time), samples: SAMPLES, format: "png", map: "magma" };
  const image = `${baseUrl()}/api/datasets/${encodeURIComponent(dataset.name)}/grid?${new URLSearchParams(question)}`;
  const title = `${what} at ${normal} = ${Number(at.toPrecision(4))}, t = ${Number(time.toPrecision(4))} · ${dataset.name}`;
  const tags = { "og:title": title, "og:type": "website", "og:description": dataset.title, "og:image": image };
  return Object.entries(tags)
    .map(([property, content]) => `<meta property="${property}" content="${escapeHtml(content)}" />`)
    .concat('<meta name="twitter:card" content="summary_large_image" />', "")
    .join("\n    ");
}
