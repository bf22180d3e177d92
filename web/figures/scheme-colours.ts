/** This file reads the colours of the present scheme for canvases, which style sheets do not reach. */

export interface SchemeColours {
  readonly ink: string;
  readonly line: string;
  readonly paper: string;
  readonly accent: string;
}

/**
 * Whether a theme is dark; `auto` is as dark as the system.
 *
 * @param system the list of the query `prefers-color-scheme: dark`, which callers keep: making it costs much more
 */
export function isDark(theme: "auto" | "light" | "dark", system: Pick<MediaQueryList, "matches">): boolean {
  return theme === "dark" || (theme === "auto" && system.matches);
}

/** @param element has `color`, `border-color`, `background-color` and `outline-color` set by the style sheet */
export function schemeColours(element: Element): SchemeColours {
  const styles = getComputedStyle(element);
  const paper = styles.backgroundColor;
  return { ink: styles.color, line: styles.borderTopColor, paper, accent: styles.outlineColor };
}
