/** Messages over the stage, one at a time: what the page needs, what is wrong, and what it does not show of a link. */
import { html, nothing, type TemplateResult } from "lit-html";
import { setting } from "./controls.js";
import { noGraphics } from "./stage-state.js";
import { delay, replaced, setToken } from "./state/ask.js";
import { plainNumber } from "./state/format.js";
import { refusals, store } from "./state/shown.js";
import { dataset, ignoredLinkMembers, needsToken, openAddress, problem, view } from "./state/view.js";

function tokenForm(): TemplateResult {
  const use = (event: Event) => {
    event.preventDefault();
    setToken(String(new FormData(event.target as HTMLFormElement).get("token")));
    needsToken.value = false;
    problem.value = null;
    void openAddress();
  };
  return html`<form class="trouble" @submit=${use}><label>Token <input name="token" type="password" autocomplete="off" required /></label>
    <button>Use</button>${problem.value === null ? nothing : html`<span role="alert">${problem.value}</span>`}</form>`;
}

export function trouble(): TemplateResult | typeof nothing {
  const set = dataset.value;
  const now = view.value;
  if (needsToken.value) return tokenForm();
  if (problem.value !== null) return html`<div class="trouble" role="alert">${problem.value}</div>`;
  if (delay.value !== null) return html`<div class="trouble" role="status">Trying again: ${delay.value}</div>`;
  if (replaced.value !== "") return html`<div class="trouble" role="alert">${replaced.value}</div>`;
  const refused = refusals(set, now);
  if (refused.length > 0 || ignoredLinkMembers.value !== "")
    return html`<div class="trouble" role=${refused.length > 0 ? "alert" : "status"}>
      ${
        ignoredLinkMembers.value === ""
          ? nothing
          : html`<span>${ignoredLinkMembers.value}</span><button aria-label="Close" @click=${setting(ignoredLinkMembers, "")}>×</button>`
      }
      ${refused.map(([name, { key, error }]) => html`<span>${name}${error.message}</span><button @click=${() => (key === "" ? openAddress() : store.retry(key))}>Retry</button>`)}</div>`;
  if (noGraphics.value !== null) {
    const range = now.ranges.get(now.what ?? "");
    const colours =
      range === undefined ? "" : `, from ${plainNumber(range.low, 9)} to ${plainNumber(range.high, 9)} in equal steps`;
    return html`<div class="trouble" role="status">This browser shows no WebGL2: the xy plane comes from the service as PNG${colours}.</div>`;
  }
  return nothing;
}
