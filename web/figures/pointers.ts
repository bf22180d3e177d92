/** Pointers turn the events of mouse, pen and fingers on a canvas into moves, clicks, pans, boxes and zooms. */

/** The meaning of gestures; places are fractions of the canvas from its upper left corner. */
export interface Gestures {
  readonly moved: (x: number, y: number) => void;
  readonly clicked: (x: number, y: number) => void;
  /** The pointer is no longer over the canvas. */
  readonly left: () => void;
  /** The picture was dragged by so much. */
  readonly panned: (dx: number, dy: number) => void;
  /** A box was drawn with Shift held; `done` when the button is released. */
  readonly boxed: (from: readonly [number, number], to: readonly [number, number], done: boolean) => void;
  readonly zoomed: (factor: number, x: number, y: number) => void;
  readonly reset: () => void;
  /** Whether dragging pans, which needs something beyond the edges. */
  readonly canPan: () => boolean;
  /** Whether the edges are seams, beyond which the picture goes on; a finger scrolls the page there. */
  readonly crossesSeams: () => boolean;
}

/** Pixels that a pointer may wander during a click. */
const CLICK_SLACK = 4;
/** Enlargement by a wheel turned by some pixels. */
const WHEEL_PIXELS = 400;
const LINE_PIXELS = 33;

type ScreenPoint = readonly [number, number];

export class Pointers {
  readonly #gestures: Gestures;
  readonly #down = new Map<number, ScreenPoint>();
  #canvas: HTMLCanvasElement | null = null;
  #listening: AbortController | null = null;
  #start: ScreenPoint = [0, 0];
  #last: ScreenPoint = [0, 0];
  #dragged = false;
  #boxing = false;
  #pinched = false;

  constructor(gestures: Gestures) {
    this.#gestures = gestures;
  }

  /** Listens to a canvas instead of the one before; null listens to none. */
  attach(canvas: HTMLCanvasElement | null): void {
    this.#listening?.abort();
    this.#canvas = canvas;
    this.#down.clear();
    if (canvas === null) return;
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    canvas.addEventListener("pointerdown", (event) => this.#press(event), { signal });
    canvas.addEventListener("pointermove", (event) => this.#follow(event), { signal });
    canvas.addEventListener("pointerup", (event) => this.#release(event), { signal });
    canvas.addEventListener("pointercancel", (event) => this.#cancel(event), { signal });
    canvas.addEventListener("pointerleave", () => this.#gestures.left(), { signal });
    // One finger may scroll the page; without this the browser would take two for scrolling, too.
    for (const name of ["touchstart", "touchmove"] as const) {
      canvas.addEventListener(name, (event) => this.#keepPinch(event), { signal, passive: false });
    }
    canvas.addEventListener("dblclick", () => this.#gestures.reset(), { signal });
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { signal, passive: false });
  }

  #keepPinch(event: TouchEvent): void {
    if (event.touches.length > 1 && event.cancelable) event.preventDefault();
  }

  #placeOf({ clientX, clientY }: Pick<MouseEvent, "clientX" | "clientY">): ScreenPoint {
    const box = this.#canvas?.getBoundingClientRect() ?? new DOMRect(0, 0, 1, 1);
    return [(clientX - box.left) / box.width, (clientY - box.top) / box.height];
  }

  /** The distance of two places in pixels. */
  #distance(a: ScreenPoint, b: ScreenPoint): number {
    const { clientWidth = 1, clientHeight = 1 } = this.#canvas ?? {};
    return Math.hypot((a[0] - b[0]) * clientWidth, (a[1] - b[1]) * clientHeight);
  }

  #press(event: PointerEvent): void {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    const place = this.#placeOf(event);
    if (this.#down.size === 0) {
      this.#start = place;
      this.#dragged = false;
      this.#pinched = false;
      this.#boxing = event.shiftKey;
    } else this.#pinched = true;
    this.#last = place;
    this.#down.set(event.pointerId, [event.clientX, event.clientY]);
    this.#canvas?.setPointerCapture(event.pointerId);
  }

  #follow(event: PointerEvent): void {
    const place = this.#placeOf(event);
    if (!this.#down.has(event.pointerId)) {
      this.#gestures.moved(...place);
      return;
    }
    // In pixels of the page: the canvas may change its size between two moves.
    const before = [...this.#down.values()];
    this.#down.set(event.pointerId, [event.clientX, event.clientY]);
    const after = [...this.#down.values()];
    if (after.length === 2) {
      const apart = ([[x0, y0], [x1, y1]]: readonly ScreenPoint[]) => Math.hypot(x1 - x0, y1 - y0);
      const [clientX, clientY] = [0, 1].map((i) => (after[0][i] + after[1][i]) / 2);
      this.#gestures.zoomed(apart(after) / Math.max(1, apart(before)), ...this.#placeOf({ clientX, clientY }));
      return;
    }
    this.#dragged ||= this.#distance(place, this.#start) > CLICK_SLACK;
    if (!this.#dragged || this.#pinched) return;
    if (this.#boxing) this.#gestures.boxed(this.#start, place, false);
    else if (this.#pans(event)) this.#gestures.panned(place[0] - this.#last[0], place[1] - this.#last[1]);
    else this.#gestures.moved(...place);
    this.#last = place;
  }

  #pans({ pointerType }: PointerEvent): boolean {
    return this.#gestures.canPan() || (pointerType !== "touch" && this.#gestures.crossesSeams());
  }

  #release(event: PointerEvent): void {
    if (!this.#down.delete(event.pointerId) || this.#pinched) return;
    const place = this.#placeOf(event);
    if (this.#boxing && this.#dragged) this.#gestures.boxed(this.#start, place, true);
    else if (!this.#dragged) this.#gestures.clicked(...place);
  }

  #cancel(event: PointerEvent): void {
    this.#down.delete(event.pointerId);
  }

  /** Zooms about the pointer; turning further out than the whole plane scrolls the page. */
  #wheel(event: WheelEvent): void {
    if (event.deltaY > 0 && !this.#gestures.canPan()) return;
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? LINE_PIXELS : 1);
    this.#gestures.zoomed(2 ** (-pixels / WHEEL_PIXELS), ...this.#placeOf(event));
  }
}
