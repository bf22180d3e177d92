/** How the search of the site ranks sections: by the words that mean something, pages for users before those for authors. */

/** Words of questions that say nothing about what is asked. */
const SMALL_WORDS = new Set(
  "a an and are as at be by can do does for from get have how i if in into is it its me my of on or our out own so that the their them then there this to use want was what when where which who why will with you your".split(
    " ",
  ),
);
/** Shortest beginning of a word that finds the word. */
const MIN_BEGINNING = 4;
/** Factors of the score by the place of a page; the first row that matches counts. */
const WEIGHTS: readonly (readonly [place: RegExp, weight: number])[] = [
  [/^\/docs\/(decisions\/|architecture|changelog|contributing|glossary|licences|rules)/, 0.2],
  [/^\/docs\/reference\//, 0.4],
];

/** Options of MiniSearch for a search, in addition to those of VitePress. */
export const SEARCH = {
  fuzzy: (term: string) => (term.length > MIN_BEGINNING ? 0.2 : false),
  prefix: (term: string) => term.length >= MIN_BEGINNING,
  boost: { title: 4, text: 2, titles: 2 },
  processTerm: (term: string) => {
    const word = term.toLowerCase();
    return SMALL_WORDS.has(word) ? null : word;
  },
  boostDocument: (id: string) => WEIGHTS.find(([place]) => place.test(id))?.[1] ?? 1,
};
