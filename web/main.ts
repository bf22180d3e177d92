/** The entry of the page reads the catalogue and the view in the address, and shows the page. */
import { html, render } from "lit-html";
import { Page } from "./page.js";
import { ApiClient } from "./state/api.js";
import type { Catalogue } from "./state/facts.js";
import "./style.css";
import { readView } from "./state/queries.js";
import { isLively, liveState } from "./state/view-state.js";
import { ViewStore } from "./state/view-store.js";

/** The dataset that the page opens on: the one with the most nodes, the first of equals. */
function richest(datasets: Catalogue["datasets"]): Catalogue["datasets"][number] | undefined {
  const size = ({ nodes }: Catalogue["datasets"][number]) => nodes.reduce((product, n) => product * n, 1);
  return datasets.toSorted((a, b) => size(b) - size(a))[0];
}

/** Characters of a bad parameter that a notice repeats. */
const LONGEST = 24;

async function start(root: HTMLElement): Promise<void> {
  const api = new ApiClient();
  const catalogue = await api.catalogue();
  const wanted = new URLSearchParams(location.search).get("dataset");
  const known = catalogue.datasets.find((dataset) => dataset.name === wanted) ?? richest(catalogue.datasets);
  if (known === undefined) {
    render(
      html`<main><h1>fieldprobe</h1><p>The service has no datasets. Put HDF5 files into its data folder; the service finds them within half a minute. Then reload this page.</p></main>`,
      root,
    );
    return;
  }
  const facts = await api.facts(known.name);
  const parsed = readView(location.search, facts);
  const bad = wanted !== null && wanted !== known.name ? ["dataset", ...parsed.bad] : parsed.bad;
  const query = new URLSearchParams(location.search);
  const asked = bad.map((name) => `${name}=${(query.get(name) ?? "").slice(0, LONGEST)}`).join(", ");
  const notice =
    bad.length === 0
      ? ""
      : `The link asks for something that this service cannot show (${asked}); the page uses the defaults instead${bad.includes("dataset") ? `, of ${known.name}` : ""}.`;
  const alive = location.search === "" && isLively(facts);
  const page = new Page(root, catalogue, new ViewStore(api, alive ? liveState(facts) : parsed.state, facts), notice);
  if (alive) page.liven();
}

/** Starts the page; if the catalogue cannot be loaded, it offers to try again. */
function begin(root: HTMLElement): void {
  start(root).catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    render(
      html`
        <main>
          <h1>fieldprobe</h1>
          <p role="alert">The service is not answering: ${text}</p>
          <p><button type="button" @click=${() => begin(root)}>Try again</button></p>
        </main>
      `,
      root,
    );
  });
}

const root = document.querySelector<HTMLElement>("#page");
if (root !== null) {
  begin(root);
}
