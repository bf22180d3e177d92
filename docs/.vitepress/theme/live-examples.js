/** Runs the examples of a page on the service that the page comes from, or on a local one. */
import { requestOf, serviceOf } from "../example-request.ts";

const MOST_SHOWN = 4000;

async function run({ url, method, headers, body }, shown) {
  shown.hidden = false;
  shown.textContent = "…";
  try {
    const answer = await fetch(serviceOf(location) + url, { method, headers, body });
    const text = await answer.text();
    const cut = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}\n… ${text.length} characters` : text;
    shown.textContent = `${answer.status} ${answer.headers.get("content-type") ?? ""}\n${cut}`;
  } catch {
    shown.textContent = `No service answers at ${serviceOf(location)}: start one with npm start.`;
  }
}

/** Puts a button below each example of the page that is one request. */
export function offerExamples() {
  for (const block of document.querySelectorAll(".language-sh:not([data-live])")) {
    block.dataset.live = "";
    const request = requestOf(block.querySelector("code")?.textContent ?? "");
    if (request === null) continue;
    const box = document.createElement("div");
    const button = document.createElement("button");
    const shown = document.createElement("pre");
    box.className = "live-example";
    button.type = "button";
    button.textContent = "Run";
    shown.hidden = true;
    shown.setAttribute("aria-live", "polite");
    button.addEventListener("click", () => run(request, shown));
    box.append(button, shown);
    block.after(box);
  }
}
