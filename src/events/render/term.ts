/** Terms as objects of the interface. */
import { type TaxonomyTerm, type Terms, vocabulary } from "../model/entities.js";

export interface RenderSettings {
  readonly prefix: string;
  /** `{events: URL}` or the bare URL. */
  readonly categoryUrl: "hash" | "string";
}

export function renderTerm(term: TaxonomyTerm, terms: Terms, settings: RenderSettings): object {
  const { id, name, slug, url, address } = term;
  const row = vocabulary(term.vocabulary);
  const parent = term.parent === null ? undefined : terms.get(term.parent);
  return {
    _links: { self: { href: `${settings.prefix}/${term.vocabulary}/${id}` } },
    id,
    type: row?.type,
    name,
    slug,
    ...(row?.tree ? { parent: parent ? { id: parent.id, name: parent.name, slug: parent.slug } : null } : {}),
    url: settings.categoryUrl === "hash" ? { events: url } : url,
    ...address,
  };
}

/** As an object of its own collection. */
export function renderWholeTerm(term: TaxonomyTerm, terms: Terms, settings: RenderSettings): object {
  return { _embedded: {}, ...renderTerm(term, terms, settings) };
}
