/** The joint figure draws the joint distribution of R and Q with the curve that parts real from complex eigenvalues. */
import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { PlaneWindow } from "../state/plane-geometry.js";
import type { FigurePart } from "./figure-file.js";
import { axisMarks, drawMarks, type Marks, writeMarks } from "./marks.js";

/** A result of the reduction `joint`: rows of counts by bins of the first quantity. */
export interface JointCounts {
  readonly edges: readonly [readonly number[], readonly number[]];
  readonly counts: readonly (readonly number[])[];
}

const WIDTH = 400;
const HEIGHT = 350;
const PLACE = { left: 60, top: 10, width: 320, height: 250 };
/** The key below: squares of all shades, and under them a piece of the curve. */
const KEY = { left: 74, y: 312, side: 14, curve: 338 };
/** Shades of the counts, by their logarithm. */
const SHADES = 8;
/** The colour of cells in exported figures, which are light. */
const CELLS = "#0b62a4";

/** Steps of each branch of the curve below. */
const CURVE_STEPS = 64;

/** Points of 27/4 R^2 + Q^3 = 0, whose Q is never positive: R as a function of Q, both branches from low to high R. */
export function discriminantCurve(lowest: number): readonly (readonly [number, number])[] {
  const half = Array.from({ length: CURVE_STEPS + 1 }, (_, i): readonly [number, number] => {
    const q = (lowest * (CURVE_STEPS - i)) / CURVE_STEPS;
    return [Math.sqrt((4 / 27) * -(q ** 3)), q];
  });
  return [...half.map(([r, q]): readonly [number, number] => [-r, q]), ...half.toReversed()];
}

/** The shade of each count, from 1 for the fewest to the darkest; 0 for none. */
function shadeOf(count: number, most: number): number {
  return count === 0 ? 0 : 1 + Math.round(((SHADES - 1) * Math.log(count)) / Math.log(Math.max(2, most)));
}

/** The distribution as it lies in its figure: the path of the cells of each shade, and the curve. */
function layJoint({ edges: [rs, qs], counts }: JointCounts) {
  const window: PlaneWindow = [rs[0] ?? 0, rs.at(-1) ?? 1, qs[0] ?? 0, qs.at(-1) ?? 1];
  const [left, right, bottom, top] = window;
  const x = (r: number) => PLACE.left + (PLACE.width * (r - left)) / (right - left);
  const y = (q: number) => PLACE.top + (PLACE.height * (top - q)) / (top - bottom);
  const most = Math.max(1, ...counts.flat());
  const paths = Array.from({ length: SHADES + 1 }, () => "");
  for (const [i, row] of counts.entries()) {
    for (const [j, count] of row.entries()) {
      const [x0, x1] = [x(rs[i] ?? 0).toFixed(1), x(rs[i + 1] ?? 0).toFixed(1)];
      const [y0, y1] = [y(qs[j + 1] ?? 0).toFixed(1), y(qs[j] ?? 0).toFixed(1)];
      paths[shadeOf(count, most)] += `M${x0} ${y0}L${x1} ${y0}L${x1} ${y1}L${x0} ${y1}`;
    }
  }
  for (let shade = 1; shade <= SHADES; shade++) {
    const [from, to] = [KEY.left + KEY.side * (shade - 1), KEY.left + KEY.side * shade];
    paths[shade] += `M${from} ${KEY.y}L${to} ${KEY.y}L${to} ${KEY.y + KEY.side}L${from} ${KEY.y + KEY.side}`;
  }
  const inside = discriminantCurve(Math.min(0, bottom)).filter(([r]) => r >= left && r <= right);
  const curve = inside.map(([r, q]) => `${x(r).toFixed(1)} ${y(q).toFixed(1)}`);
  const { lines, labels } = axisMarks(window, PLACE, ["R", "Q"]);
  const [end, base] = [KEY.left + 2 * KEY.side, KEY.y + KEY.side - 3];
  const marks: Marks = {
    lines: [...lines, { x1: KEY.left, y1: KEY.curve, x2: end, y2: KEY.curve }],
    labels: [
      ...labels,
      { x: KEY.left - 5, y: base, text: "1", anchor: "end" },
      { x: KEY.left + SHADES * KEY.side + 5, y: base, text: `${most} nodes`, anchor: "start" },
      { x: end + 5, y: KEY.curve + 4, text: "27/4 R² + Q³ = 0", anchor: "start" },
    ],
  };
  return { window, x, y, shades: paths.slice(1), curve, marks };
}

/** The distribution as a part of an exported figure. */
export function jointPart(counts: JointCounts): FigurePart {
  const { shades, curve, marks } = layJoint(counts);
  const cells = shades.flatMap((d, i) =>
    d === "" ? [] : `<path d="${d}" fill="${CELLS}" opacity="${(i + 1) / SHADES}"/>`,
  );
  const line = curve.length < 2 ? "" : `<path d="M${curve.join("L")}" fill="none" stroke="#222"/>`;
  return { width: WIDTH, height: HEIGHT, svg: [...cells, writeMarks(marks), line].join("\n") };
}

/** Ranges of R and of Q. */
export type JointPart = readonly [number, number, number, number];

/**
 * Draws the distribution with R to the right and Q up; darker cells have more nodes, by the logarithm.
 *
 * @param part   the part that is marked, or null
 * @param choose takes a part that is marked by dragging
 */
export function drawJoint(
  counts: JointCounts,
  part: JointPart | null,
  choose: (part: JointPart) => void,
): TemplateResult {
  const { window, x, y, shades, curve, marks } = layJoint(counts);
  const [left, right, bottom, top] = window;
  const inData = ({ currentTarget, clientX, clientY }: PointerEvent): readonly [number, number] => {
    const box = (currentTarget as Element).getBoundingClientRect();
    const [px, py] = [((clientX - box.left) / box.width) * WIDTH, ((clientY - box.top) / box.height) * HEIGHT];
    return [
      left + ((px - PLACE.left) / PLACE.width) * (right - left),
      top - ((py - PLACE.top) / PLACE.height) * (top - bottom),
    ];
  };
  const press = (event: PointerEvent) => {
    const target = event.currentTarget as Element;
    const from = inData(event);
    const release = (later: Event) => {
      const to = inData(later as PointerEvent);
      const sides = [0, 1].map((i) => [from[i] as number, to[i] as number].sort((a, b) => a - b));
      const ends = sides.flat() as unknown as JointPart;
      if (ends[0] < ends[1] && ends[2] < ends[3]) choose(ends);
    };
    target.setPointerCapture(event.pointerId);
    target.addEventListener("pointerup", release, { once: true });
  };
  const marked =
    part === null
      ? nothing
      : svg`<rect class="part" x=${x(part[0])} y=${y(part[3])} width=${x(part[1]) - x(part[0])} height=${y(part[2]) - y(part[3])}></rect>`;
  return html`<svg class="joint" id="joint" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" @pointerdown=${press}
    aria-label="Joint distribution of R and Q over nodes, with the curve 27/4 R² + Q³ = 0">
    ${shades.map((d, i) => svg`<path class="cells" d=${d} fill-opacity=${(i + 1) / SHADES}></path>`)}
    ${drawMarks(marks)}
    ${marked}
    <polyline id="discriminant" points=${curve.join(" ")}></polyline>
  </svg>`;
}
