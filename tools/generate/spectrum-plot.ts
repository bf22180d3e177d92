/** Draws an energy spectrum as an SVG: energy of each shell over its wavenumber, both logarithmic. */

const WIDTH = 480;
const HEIGHT = 360;
const MARGIN = { left: 64, right: 16, top: 16, bottom: 44 };
const INK = "#1f4e79";
const GRID = "#d0d0d0";

/** The whole decades that hold all values, as exponents of ten. */
function decades(values: readonly number[]): { readonly low: number; readonly high: number } {
  const exponents = values.map(Math.log10);
  return { low: Math.floor(Math.min(...exponents)), high: Math.ceil(Math.max(...exponents)) };
}

/** A power of ten as text of an SVG. */
const power = (exponent: number) => `10<tspan dy="-5" font-size="9">${exponent}</tspan>`;

/**
 * @param spectrum energy by shell; shell 0 and empty shells are left out
 * @param kmax     largest wavenumber that is complete, marked by a dashed line
 * @returns the text of an SVG file
 */
export function spectrumPlot(spectrum: readonly number[], kmax: number): string {
  const shells = spectrum.flatMap((energy, k) => (k > 0 && energy > 0 ? [{ k, energy }] : []));
  const across = decades(shells.map(({ k }) => k));
  const up = decades(shells.map(({ energy }) => energy));
  const right = WIDTH - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const x = (k: number) =>
    MARGIN.left + ((Math.log10(k) - across.low) / (across.high - across.low)) * (right - MARGIN.left);
  const y = (energy: number) => bottom - ((Math.log10(energy) - up.low) / (up.high - up.low)) * (bottom - MARGIN.top);
  const at = (value: number) => value.toFixed(1);
  const lines: string[] = [];
  for (let decade = up.low; decade <= up.high; decade++) {
    const height = at(y(10 ** decade));
    lines.push(`<path d="M${MARGIN.left} ${height}H${right}" stroke="${GRID}"/>`);
    lines.push(`<text x="${MARGIN.left - 8}" y="${height}" dy="4" text-anchor="end">${power(decade)}</text>`);
  }
  for (let decade = across.low; decade <= across.high; decade++) {
    const place = at(x(10 ** decade));
    lines.push(`<path d="M${place} ${MARGIN.top}V${bottom}" stroke="${GRID}"/>`);
    lines.push(`<text x="${place}" y="${bottom + 20}" text-anchor="middle">${10 ** decade}</text>`);
  }
  const points = shells.map(({ k, energy }) => `${at(x(k))} ${at(y(energy))}`);
  const middle = { x: (MARGIN.left + right) / 2, y: (MARGIN.top + bottom) / 2 };
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    "<title>Energy spectrum</title>",
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    ...lines,
    `<path d="M${at(x(kmax))} ${MARGIN.top}V${bottom}" stroke="${INK}" stroke-dasharray="4 3"/>`,
    `<path d="M${points.join("L")}" fill="none" stroke="${INK}" stroke-width="1.5"/>`,
    ...points.map((point) => `<circle cx="${point.split(" ")[0]}" cy="${point.split(" ")[1]}" r="3" fill="${INK}"/>`),
    `<text x="${middle.x}" y="${HEIGHT - 8}" text-anchor="middle">shell |k|</text>`,
    `<text transform="translate(14 ${middle.y}) rotate(-90)" text-anchor="middle">mean energy</text>`,
    "</svg>",
  ].join("\n")}\n`;
}
