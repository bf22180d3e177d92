/**
 * Lists words by which files state that values, places, components or times change, and what is known about them. New
 * statements are added as rows.
 */
import type { Subject } from "../../file/dataset.js";

/** Words that raise a question unless the value of the statement says that nothing changes. */
export interface SuspectRow {
  /** Beginnings of the words of a name: `scal` is the beginning of one word of `time_scale`. */
  readonly stems: readonly string[];
  /** Words of a name as a whole; two that follow each other are one as well: `no_data`. */
  readonly words?: readonly string[];
  /** Beginnings of words that count in attributes of fields and coordinates only: others use them for settings. */
  readonly ofValues?: readonly string[];
  readonly about: Subject;
  /** What the statement may do, for people: "may ... them". */
  readonly effect: string;
  /** The number that changes nothing; null if numbers say nothing. */
  readonly neutral: number | null;
  /** Texts that change nothing, in lower case. */
  readonly plain: readonly string[];
}

const NONE = ["", "none", "no", "false", "off", "n/a", "unscaled", "raw"];

export const SUSPECTS: readonly SuspectRow[] = [
  {
    stems: ["scal", "fact", "multipl", "slope", "gain", "conver", "calibr", "normali", "rescal", "prefac", "nondim"],
    words: [
      "norm",
      "norms",
      "normed",
      "si",
      "cgs",
      "mks",
      "unit",
      "convfac",
      "divideby",
      "dividedby",
      "weighted",
      "favre",
    ],
    ofValues: [
      "amplitud",
      "coef",
      "mult",
      "conv",
      "divi",
      "denomin",
      "weight",
      "sign",
      "quantum",
      "quantis",
      "quantiz",
      "lsb",
      "dimensionless",
      "window",
      "taper",
    ],
    about: "scale",
    effect: "scale",
    neutral: 1,
    plain: [...NONE, "linear", "1", "si", "cgs"],
  },
  {
    stems: ["offset", "bias", "intercept", "anomal", "detrend", "fluctuat", "perturb", "subtract", "remov", "galile"],
    words: [
      "ref",
      "uref",
      "vref",
      "lref",
      "tref",
      "pref",
      "reference",
      "datum",
      "shift",
      "baseline",
      "framevelocity",
      "movingframe",
    ],
    about: "scale",
    effect: "shift",
    neutral: 0,
    plain: NONE,
  },
  {
    stems: ["transform", "logarithm", "spectral", "fourier"],
    words: ["log", "log10", "exponent"],
    ofValues: ["encod", "compand", "complex", "imag", "power", "decibel"],
    about: "scale",
    effect: "transform",
    neutral: 0,
    plain: [...NONE, "linear", "physical", "identity", "real", "utf-8", "ascii", "gzip"],
  },
  {
    stems: ["fill", "missing", "undef", "sentinel"],
    words: ["valid", "badval", "badvalue", "nodata"],
    ofValues: ["mask"],
    about: "scale",
    effect: "mark some of",
    neutral: null,
    plain: [...NONE, "nan"],
  },
  {
    stems: ["stagger", "center", "centr", "centering", "colloc", "colocat"],
    words: ["location", "position"],
    ofValues: ["start"],
    about: "spacing",
    effect: "move the places of",
    neutral: 0,
    plain: [...NONE, "node", "nodes", "nodal", "vertex", "vertices", "point", "points", "collocated", "colocated"],
  },
  {
    stems: ["ghost", "nghost", "halo"],
    ofValues: ["pad", "crop", "roi"],
    about: "spacing",
    effect: "be stripped from the ends of",
    neutral: 0,
    plain: NONE,
  },
  {
    stems: ["subset", "subsampl", "downsampl", "decimat", "coarsen", "thinn"],
    words: ["stride", "strides"],
    ofValues: ["skip", "sampl"],
    about: "spacing",
    effect: "leave out some of",
    neutral: 1,
    plain: [...NONE, "all", "full", "1"],
  },
  { stems: [], ofValues: ["rotat"], about: "spacing", effect: "turn the axes of", neutral: 0, plain: NONE },
  {
    stems: ["transpos", "fortran", "flip", "mirror", "revers"],
    words: ["columnmajor", "colmajor", "swapaxes"],
    about: "order",
    effect: "reorder",
    neutral: 0,
    plain: [...NONE, "c"],
  },
  {
    stems: ["order", "layout"],
    words: ["majority"],
    about: "order",
    effect: "reorder",
    neutral: null,
    plain: [...NONE, "c", "row", "row-major", "row_major", "rowmajor", "contiguous", "chunked"],
  },
];

/** Names, or words of names, that match a row above and change nothing. */
export interface HarmlessRow {
  readonly producer: string;
  readonly names?: readonly string[];
  readonly words?: readonly string[];
  /** Whether they are settings of a run, which change nothing in groups; at a field or coordinates they might. */
  readonly areSettings?: true;
}

export const HARMLESS_STATEMENTS: readonly HarmlessRow[] = [
  { producer: "HDF5 dimension scales", names: ["reference_list", "dimension_list", "dimension_labels"] },
  {
    producer: "CF conventions",
    names: ["references", "standard_name", "long_name", "axis", "positive", "calendar", "conventions"],
  },
  {
    producer: "catalogues of data, and plots",
    names: ["reference_url", "processing_centre", "processing_center", "time_centered", "scale_min", "scale_max"],
  },
  { producer: "WRF", names: ["memoryorder"] },
  { producer: "Dedalus", names: ["scales"] },
  { producer: "fluidsim", names: ["axes"] },
  {
    producer: "netCDF",
    names: ["_netcdf4coordinates", "_fillvalue"],
    words: ["quantize", "significant", "endianness", "byte"],
  },
  { producer: "yt", names: ["unit_registry", "unit_system"] },
  {
    producer: "solvers: statistics of the flow",
    words: ["integral", "taylor", "kolmogorov", "eddy", "dissipation", "batchelor", "turbulent", "large", "forcing"],
  },
  {
    producer: "solvers: settings of their schemes",
    words: ["cfl", "courant", "safety", "dealias", "dealiasing", "padding", "relaxation", "compression"],
    areSettings: true,
  },
  {
    producer: "solvers: how they start and stop",
    words: ["initial", "amplitude", "noise", "seed", "tolerance", "convergence", "converged", "residual"],
    areSettings: true,
  },
  {
    producer: "solvers: how often they write",
    names: ["output_stride", "save_stride", "write_stride", "io_stride", "dump_stride", "time_stride", "plot_stride"],
    areSettings: true,
  },
  { producer: "compilers", words: ["compiler", "version", "flags"] },
];

/** Texts whose wording says that stored numbers are not plain values at plain nodes. */
export interface WordingRow {
  readonly about: Subject;
  readonly pattern: RegExp;
  readonly effect: string;
}

/** Attributes whose text is read for such wording, however long it is. */
export const WORDED =
  /^(units?|long_?name|description|comments?|notes?|quantity|space|kind|type|remarks?|info|read_?me)$/i;

/** Attributes whose text tells a story: words in it say nothing of the numbers. */
export const NARRATIVE =
  /^(hist|title|source|instit|refer|author|contact|creat|command|cmd|path|file|host|machine|git|rev|commit|version|url|doi|licen|program|software|code|solver|name|case|run|method|scheme|project|experiment|date|convention|keyword|nco|cdo|class|summary|abstract|acknowl|schema)/i;

/** Characters up to which a text under any other name is read. */
export const SHORT = 80;

export const WORDINGS: readonly WordingRow[] = [
  {
    about: "scale",
    pattern:
      /multipl(y|ied)|divided? by|scaled? (by|with)|in units of|normali[sz]ed|non-?dimensional|\btimes \d|weighted|\bfavre|\b(wall|plus|viscous|inner) units|\bmomentum( density)?$|mass flux/i,
    effect: "scale",
  },
  {
    about: "scale",
    pattern: /\blog(10|2)?\b|logarithm|\bd[bB]\b|fourier|spectral coeff|\bimaginary\b/i,
    effect: "transform",
  },
  { about: "scale", pattern: /anomal(y|ies)|perturbation|deviation from|minus the mean|fluctuation/i, effect: "shift" },
  {
    about: "spacing",
    pattern: /stagger|arakawa|\b[bcde][- ]grid\b|(cell|face|edge)[- ]?cent(er|re)/i,
    effect: "move the places of",
  },
  {
    about: "spacing",
    pattern: /\b(cylindrical|spherical|polar|toroidal|curvilinear|contravariant|covariant)\b(?! harmonic)/i,
    effect: "turn the axes of",
  },
  { about: "order", pattern: /column[- ]major|transposed|fortran[- ](order|layout)|\(fortran\)/i, effect: "reorder" },
];
