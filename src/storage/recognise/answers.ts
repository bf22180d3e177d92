/** What the user says about a file. */
import type { AxisName, Subject } from "../dataset/dataset.js";
import type { OtherField } from "./usual-names.js";

/** Answers of the user; undefined members are left to the file. Triples are in the order x, y, z. */
export interface Answers {
  /** Roles of the stored dimensions in order, all of them or only the axes: `t z y x c`. */
  readonly dims?: readonly string[];
  readonly fieldDims?: ReadonlyMap<string, readonly string[]>;
  readonly components?: readonly AxisName[];
  readonly coordinates?: ReadonlyMap<AxisName, string>;
  readonly periodic?: readonly AxisName[];
  readonly walls?: readonly AxisName[];
  /** Period of a periodic axis, distance of the end nodes of another. */
  readonly length?: readonly number[];
  readonly spacing?: readonly number[];
  readonly origin?: readonly number[];
  readonly times?: readonly number[] | { readonly origin: number; readonly step: number };
  readonly velocity?: readonly string[];
  readonly pressure?: string;
  readonly fields?: readonly OtherField[];
  /** Of files whose times overlap, which ones keep them: those before a restart, or those after it. */
  readonly overlap?: "first" | "last";
  readonly trajectory?: number;
  /** Axes whose stated ends are the faces of their end cells; those left out have end nodes there. */
  readonly cells?: readonly AxisName[];
  /** Subjects of red lines that are overridden: the person knows better than the file. */
  readonly despite?: readonly Subject[];
  readonly yes?: boolean;
}
