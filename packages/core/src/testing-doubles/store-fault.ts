import type { StoreErrorKind } from "../contract/store-driver.js";
import { StoreError } from "../errors/store-error.js";
import type { Timing } from "../timing/timing.js";

/** What happens to one call of a store instead of just the call. */
export type StoreFault = <Result>(call: () => Promise<Result>) => Promise<Result>;

/** Not applied, and says so. */
export function failing(kind: StoreErrorKind = "transient"): StoreFault {
  return async () => {
    throw new StoreError("scripted", kind, `scripted: ${kind}`, undefined);
  };
}

/** Not applied, and throws whatever. */
export function throwing(thrown: unknown): StoreFault {
  return async () => {
    throw thrown;
  };
}

/** Applied, but the reply is lost. */
export const replyLost: StoreFault = async (call) => {
  await call();
  throw new StoreError("scripted", "unknown-outcome", "scripted: the reply was lost", undefined);
};

/** Neither applied nor answered. */
export const silent: StoreFault = () => new Promise(() => {});

/** Applied at once, answered late. */
export function answeringAfter(ms: number, timing: Timing): StoreFault {
  return async (call) => {
    const result = await call();
    await timing.sleep(ms);
    return result;
  };
}

/** Applied and answered when released. */
export function held(): { readonly fault: StoreFault; release(): void } {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    fault: async (call) => {
      await gate;
      return call();
    },
    release,
  };
}
