/** Colour maps: inferno and cividis by matplotlib, vik, romaO and batlow by F. Crameri (MIT), each at 33 equal steps. */
import type { MapName } from "../state/link.js";

const STEPS: Readonly<Record<MapName, string>> = {
  inferno:
    "0000040403120b0724150b37210c4a2f0a5b3d09654a0c6b57106e64156e71196e7d1e6d8a226a972766a32c61b0315bbc3754c73e4cd24644db503be45a31eb6628f1731df68013f98e09fb9d07fcac11fbbc21f9cb35f5db4cf2ea69f3f68afcffa4",
  cividis:
    "00205100265d012b6508316911366c1c3c6e26426e31476e3c4d6e47536d51586e5a5e6e62646f6a6a707270717976737f7c758682768c8877938e789a9478a19b78a9a177b2a874bbaf71c5b66dcebd68d8c462e2cb5cebd355f3da4ffae249fdea45",
  batlow:
    "01195908255b0d315d0f3b5f114360134b611752621b59622260612b655e356a59406f534d734d597745667b3e747e3882823290862da0892bb08d2ebf9035ce923fdc954ce8985bf19d6bf8a27efca891fdaea2fdb4b4fdbac4fcbfd6fbc6e8faccfa",
  vik: "001261021f69022b710237790344810551890c5e921b6d9c2f7da6478cb1609dbc79adc792bdd2acccddc5dbe6dde6e9ece5e0eedacfe9cbb9e3bba4dcab8fd69c7bcf8d67c97f55c37243bd6431b3531fa5400f942f06832106741506670a07590008",
  romaO:
    "73395779384c7e3942843d3a8b4433924d2f99582ca2662caa752fb38536bd9741c6a951cfbb65d4ca7ad6d68fd3dea2cce1b2c0e1beb0ddc79fd6cc8ccccf7abfce69b2cb5da3c75495c04f86b84f76ae5267a15859935f4d836644746c3d65723959",
};

export const COLOURS = 256;

function stepsOf(name: MapName): number[][] {
  return Array.from({ length: 33 }, (_, i) =>
    [0, 2, 4].map((at) => Number.parseInt(STEPS[name].slice(6 * i + at, 6 * i + at + 2), 16)),
  );
}

export function colourTable(name: MapName): Uint8Array<ArrayBuffer> {
  const steps = stepsOf(name);
  const table = new Uint8Array(4 * COLOURS);
  for (let i = 0; i < COLOURS; i++) {
    const at = (i / (COLOURS - 1)) * (steps.length - 1);
    const below = Math.min(steps.length - 2, Math.floor(at));
    for (let c = 0; c < 3; c++)
      table[4 * i + c] = Math.round(steps[below][c] + (at - below) * (steps[below + 1][c] - steps[below][c]));
    table[4 * i + 3] = 255;
  }
  return table;
}

const toLinear = (byte: number) => (byte <= 10.31475 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
const toByte = (linear: number) => {
  const clipped = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055));
};

export function oklab([r, g, b]: ArrayLike<number> & Iterable<number>): [number, number, number] {
  const [R, G, B] = [toLinear(r), toLinear(g), toLinear(b)];
  const l = Math.cbrt(0.4122214708 * R + 0.5363325363 * G + 0.0514459929 * B);
  const m = Math.cbrt(0.2119034982 * R + 0.6806995451 * G + 0.1073969566 * B);
  const s = Math.cbrt(0.0883024619 * R + 0.2817188376 * G + 0.6299787005 * B);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

export function fromOklab([L, a, b]: readonly number[]): [number, number, number] {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    toByte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    toByte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    toByte(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** The table of a map for lit surfaces: with lightness from 0.46 to 0.82 shading does not change the hue. */
export function surfaceTable(name: MapName): Uint8Array<ArrayBuffer> {
  const table = colourTable(name);
  const labs = Array.from({ length: COLOURS }, (_, i) => oklab([table[4 * i], table[4 * i + 1], table[4 * i + 2]]));
  const [low, high] = [Math.min(...labs.map(([L]) => L)), Math.max(...labs.map(([L]) => L))];
  for (const [i, [L, a, b]] of labs.entries()) {
    const lightness = 0.46 + (0.36 * (L - low)) / Math.max(1e-6, high - low);
    // The chroma of a colour may grow with its lightness.
    const vivid = Math.min(1.35, 0.75 + 0.6 * (lightness / Math.max(0.2, L)) * 0.5);
    table.set(fromOklab([lightness, a * vivid, b * vivid]), 4 * i);
  }
  return table;
}
