import type { Timing } from "../timing/timing.js";
import { OutboxWorkerLoop } from "../worker/outbox-worker-loop.js";
import type { WorkerOptions } from "../worker/worker-options.js";
import type { DrainWorld } from "./drain-world.js";

/** Never: what a dead process does next. */
const never = <Result>() => new Promise<Result>(() => {});

/**
 * A process with one worker that can be killed: from then on none of its timers fires, none of its
 * calls reaches the store, and none of its answers reaches it.
 */
export class MortalProcess {
  readonly worker: OutboxWorkerLoop;
  readonly emitted: string[] = [];
  isDead = false;

  constructor(
    world: DrainWorld,
    options: Partial<WorkerOptions> & {
      /** Whether emitting this entry kills the process. */
      isDeadly?: (entryId: string) => boolean;
      emit?: (entryId: string) => unknown;
    } = {},
  ) {
    const { isDeadly = () => false, emit = () => undefined, ...rest } = options;
    const alive = async <Result>(call: () => Promise<Result>): Promise<Result> => {
      if (this.isDead) return never();
      const result = await call();
      return this.isDead ? never() : result;
    };
    const timing: Timing = {
      monotonic: () => world.timing.monotonic(),
      wall: () => world.timing.wall(),
      sleep: (ms, signal) => alive(() => world.timing.sleep(ms, signal)),
    };
    const { store } = world;
    const mortalStore: typeof store = {
      ...store,
      list: (filter, options) => alive(() => store.list(filter, options)),
      claim: (request) => alive(() => store.claim(request)),
      completeClaims: (completions) => alive(() => store.completeClaims(completions)),
      extendClaims: (claims, extension) => alive(() => store.extendClaims(claims, extension)),
    };
    this.worker = new OutboxWorkerLoop(
      {
        store: mortalStore,
        emitter: async (_, { entry: { entryId } }) => {
          if (this.isDead) return never<undefined>();
          this.emitted.push(entryId);
          await world.timing.sleep(5);
          if (isDeadly(entryId)) this.isDead = true;
          if (this.isDead) return never<undefined>();
          return emit(entryId) as undefined;
        },
        wakeUp: false,
        ...rest,
      },
      timing,
    );
    this.worker.start();
  }

  kill(): void {
    this.isDead = true;
  }
}
