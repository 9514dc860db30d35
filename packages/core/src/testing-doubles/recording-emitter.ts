import type { EmissionEnvelope } from "../contract/emission-envelope.js";
import type { EmissionContext, Emitter } from "../contract/emitter.js";

export interface EmissionCall {
  readonly entryId: string;
  readonly context: EmissionContext;
  /** Ends this call, if it waits. */
  readonly end: (result?: unknown) => void;
  readonly fail: (thrown: unknown) => void;
}

type Behaviour = (call: EmissionCall, envelope: EmissionEnvelope) => unknown;

/** Records every call; delivers at once, until told to behave otherwise. */
export class RecordingEmitter implements Emitter {
  readonly calls: EmissionCall[] = [];
  behave: Behaviour = () => undefined;
  running = 0;
  mostRunning = 0;

  // An arrow function would not show that a worker keeps `this`.
  async emit(envelope: EmissionEnvelope, context: EmissionContext): Promise<never> {
    let settle: { end: (result?: unknown) => void; fail: (thrown: unknown) => void } | undefined;
    const ended = new Promise<unknown>((resolve, reject) => {
      settle = { end: resolve, fail: reject };
    });
    if (settle === undefined) throw new Error("a promise's executor runs at once");
    const call = { entryId: context.entry.entryId, context, ...settle };
    this.calls.push(call);
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    try {
      const returned = this.behave(call, envelope);
      return (await (returned === waits ? ended : returned)) as never;
    } finally {
      this.running -= 1;
    }
  }

  /** How often each entry was emitted. */
  get timesEmitted(): Record<string, number> {
    const times: Record<string, number> = {};
    for (const { entryId } of this.calls) times[entryId] = (times[entryId] ?? 0) + 1;
    return times;
  }

  get emittedIds(): readonly string[] {
    return this.calls.map(({ entryId }) => entryId);
  }
}

/** As a behaviour's result: the call waits until the test ends it. */
export const waits = Symbol("waits");

/** Waits until aborted, and then throws the signal's reason, as `fetch` does. */
export function obeysSignal({ context, fail }: EmissionCall): typeof waits {
  context.signal.addEventListener("abort", () => fail(context.signal.reason), { once: true });
  return waits;
}
