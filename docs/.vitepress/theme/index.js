/** The default theme of VitePress, with its own ranking of search, and a button below examples that runs them on a service. */
import DefaultTheme from "vitepress/theme";
import { SEARCH } from "../search.ts";
import { offerExamples } from "./live-examples.js";
import "./style.css";

/** The data of the site with functions in the options of its search, which VitePress would have to evaluate from text. */
function withSearch(site) {
  const { search } = site.themeConfig;
  const options = { ...search.options, miniSearch: { searchOptions: SEARCH } };
  return { ...site, themeConfig: { ...site.themeConfig, search: { ...search, options } } };
}

export default {
  extends: DefaultTheme,
  enhanceApp({ router, siteData }) {
    if (typeof document === "undefined") return;
    siteData.value = withSearch(siteData.value);
    const offer = () => requestAnimationFrame(offerExamples);
    router.onAfterPageLoad = offer;
    window.addEventListener("load", offer);
  },
};
