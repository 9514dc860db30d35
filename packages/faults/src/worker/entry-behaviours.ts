import { setImmediate } from "node:timers/promises";
import type { Emit } from "@outbox/core";

/**
 * Emitters that misbehave, chosen by the type of the entry: `fault.<name>`. They do so
 * until the first failure is counted.
 */
const behaviours: Readonly<Record<string, () => unknown>> = {
  "fault.hang": () => new Promise(() => {}),
  "fault.throw-undefined": () => {
    throw undefined;
  },
  "fault.throw-text": () => {
    throw "not an error";
  },
  "fault.throw-hostile": () => {
    throw {
      get message() {
        throw new Error("no message");
      },
      toString() {
        throw new Error("no text");
      },
    };
  },
  "fault.reject-null": () => Promise.reject(null),
  "fault.answer-nonsense": () => ({ status: "so-so" }),
};

/** Lets the types that ask for it misbehave, and sends the rest; `fault.deaf` ignores its signal. */
export function misbehaving(send: Emit): Emit {
  return (envelope, context) => {
    if (envelope.type === "fault.deaf") {
      return send(envelope, { ...context, signal: new AbortController().signal });
    }
    const misbehave = behaviours[envelope.type];
    if (misbehave === undefined || context.attempt > 1) return send(envelope, context);
    return misbehave() as ReturnType<Emit>;
  };
}

/** An emission to nowhere. */
export const sendNowhere: Emit = async () => {
  await setImmediate();
};
