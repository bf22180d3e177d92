/** The default theme of VitePress, with a button below examples that runs them on a service. */
import DefaultTheme from "vitepress/theme";
import { offerExamples } from "./live-examples.js";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (typeof document === "undefined") return;
    const offer = () => requestAnimationFrame(offerExamples);
    router.onAfterPageLoad = offer;
    window.addEventListener("load", offer);
  },
};
