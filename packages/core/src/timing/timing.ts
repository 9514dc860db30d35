/** The clocks of this process. Injected inside core, so that hours can be tested in seconds. */
export interface Timing {
  /** Never goes back, but may stand still while the machine is suspended; ms. */
  monotonic(): number;
  /** May be hours off and may jump; ms since 1970. */
  wall(): number;
  /** Resolves after `ms`, or at once when the signal is aborted; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest timeout Node takes; a longer one would fire at once. */
const longestTimeoutMs = 2 ** 31 - 1;

export const systemTiming: Timing = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  async sleep(ms, signal) {
    const until = performance.now() + ms;
    for (;;) {
      const left = until - performance.now();
      if (!(left > 0) || signal?.aborted) return;
      await sleepOnce(Math.min(left, longestTimeoutMs), signal);
    }
  },
};

function sleepOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}
