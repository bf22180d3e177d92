/** Answers that connections owe: when one breaks all of them are told, and a refusal waits until those before it are out. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A connection. */
interface Line {
  readonly owed: Set<ServerResponse>;
  /** What is to be done once no whole request is unanswered. */
  afterwards: (() => void) | null;
}

/** One per service. */
export class Pipelines {
  readonly #lines = new WeakMap<Socket, Line>();

  /** Takes note of an answer to be given. */
  add(socket: Socket, answer: ServerResponse): void {
    let line = this.#lines.get(socket);
    if (line === undefined) {
      const made: Line = { owed: new Set(), afterwards: null };
      socket.once("close", () => tellLeft(made.owed));
      this.#lines.set(socket, made);
      line = made;
    }
    line.owed.add(answer);
  }

  /** The answer is out, or its caller has left. */
  drop(socket: Socket, answer: ServerResponse): void {
    const line = this.#lines.get(socket);
    line?.owed.delete(answer);
    if (line?.afterwards && !owesWhole(line)) line.afterwards();
  }

  /** Whether the connection has requests that are not answered. */
  owes(socket: Socket): boolean {
    return (this.#lines.get(socket)?.owed.size ?? 0) > 0;
  }

  /** Calls back, maybe at once, when every request that has arrived whole on this connection is answered; the first caller only. */
  afterAnswers(socket: Socket, act: () => void): void {
    const line = this.#lines.get(socket);
    if (line && owesWhole(line)) line.afterwards ??= act;
    else act();
  }

  /** Whether an answer to a request that is still arriving is on its way. */
  hasBegun(socket: Socket): boolean {
    return [...(this.#lines.get(socket)?.owed ?? [])].some((answer) => answer.headersSent);
  }
}

function owesWhole({ owed }: Line): boolean {
  for (const answer of owed) if (answer.req.complete) return true;
  return false;
}

/** Node tells only the answer at the head of a connection that its caller has left; those behind it have no socket yet. */
function tellLeft(owed: ReadonlySet<ServerResponse>): void {
  for (const answer of owed) {
    if (answer.socket !== null) continue;
    answer.destroy();
    answer.emit("close");
  }
}
