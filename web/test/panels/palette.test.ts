/** The palette finds what people call by other names than the page does. */
import { expect, it } from "vitest";
import { matching } from "../../panels/palette.js";
import { ANALYSIS_NAMES, ANALYSIS_WORDS } from "../../state/analyses.js";
import { ANALYSES } from "../../state/view-state.js";

const analyses = ANALYSES.map((name) => ({
  name: `Statistics: ${ANALYSIS_NAMES[name]}`,
  words: ANALYSIS_WORDS[name],
  go: () => undefined,
}));

it.each([
  ["mean profile", "Profile: means over planes"],
  ["average profile", "Profile: means over planes"],
  ["error", "Profile: means over planes"],
  ["PDF", "Moments and distribution"],
  ["dissipation", "Energy spectrum of the velocity"],
])("finds %s", (text, name) => {
  expect(matching(analyses, text)[0]?.name).toBe(`Statistics: ${name}`);
});
