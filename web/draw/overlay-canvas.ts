/**
 * The canvas of ticks, bars and texts. It is hidden: only its parts with content are shown, each on a small canvas,
 * because the compositor blends every pixel of a canvas with each new picture below it, empty or not.
 */
import type { Rect } from "./layout.js";

export class OverlayCanvas {
  readonly canvas = document.createElement("canvas");
  readonly #root = document.createElement("div");
  readonly #parts = new Map<number, HTMLCanvasElement[]>();
  #ratio = 1;

  constructor(stage: HTMLElement) {
    this.#root.className = "ink";
    this.#root.setAttribute("aria-hidden", "true");
    stage.prepend(this.#root);
  }

  fit(width: number, height: number, ratio: number, isCleared: boolean): CanvasRenderingContext2D | null {
    const { canvas } = this;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
    this.#ratio = ratio;
    const c = canvas.getContext("2d", { willReadFrequently: true });
    c?.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (isCleared) {
      c?.clearRect(0, 0, width, height);
      this.#root.replaceChildren();
      this.#parts.clear();
    }
    return c;
  }

  show(index: number, boxes: readonly Rect[]): void {
    const ratio = this.#ratio;
    const before = this.#parts.get(index) ?? [];
    const parts = boxes.map(({ x, y, width, height }, i) => {
      const part = before[i] ?? document.createElement("canvas");
      const [left, top] = [Math.max(0, Math.floor(x * ratio)), Math.max(0, Math.floor(y * ratio))];
      const right = Math.min(this.canvas.width, Math.ceil((x + width) * ratio));
      const bottom = Math.min(this.canvas.height, Math.ceil((y + height) * ratio));
      part.width = Math.max(1, right - left);
      part.height = Math.max(1, bottom - top);
      const style = { left, top, width: part.width, height: part.height };
      for (const [name, size] of Object.entries(style)) part.style.setProperty(name, `${size / ratio}px`);
      part.getContext("2d")?.drawImage(this.canvas, -left, -top);
      return part;
    });
    for (const part of before.slice(parts.length)) part.remove();
    if (parts.length > before.length) this.#root.append(...parts.slice(before.length));
    this.#parts.set(index, parts);
  }
}
