/** Shows terms as objects of the interface. */
import { type TaxonomyTerm, type Terms, vocabulary } from "../model/entities.js";

/** Settings that change how objects are shown. */
export interface RenderSettings {
  /** Path with which links begin. */
  readonly prefix: string;
  /** Form of a term's `url`: `{events: URL}` or the bare URL. */
  readonly categoryUrl: "hash" | "string";
}

/** A term as an object embedded in an event. */
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

/** A term as an object of its own collection, which has `_embedded` as well. */
export function renderWholeTerm(term: TaxonomyTerm, terms: Terms, settings: RenderSettings): object {
  return { _embedded: {}, ...renderTerm(term, terms, settings) };
}
