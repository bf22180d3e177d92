import { html, type TemplateResult } from "lit-html";
import type { Dataset } from "./state/dataset.js";
export const particlesPanel = (_: Dataset): TemplateResult => html`<p></p>`;
