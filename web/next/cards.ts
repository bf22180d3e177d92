import { html, nothing, type TemplateResult } from "lit-html";
import type { Dataset } from "./state/dataset.js";
export const statisticsPanel = (_: Dataset): TemplateResult => html`<p></p>`;
export const cardInStage = (): TemplateResult | typeof nothing => nothing;
export const wantCards = (_: Dataset | null): void => {};
