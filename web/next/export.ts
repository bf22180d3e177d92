import { nothing, type TemplateResult } from "lit-html";
export const openExport = (_: string): void => {};
export const exportDialog = (): TemplateResult | typeof nothing => nothing;
