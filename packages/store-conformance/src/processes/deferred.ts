/** A promise and its two ends (`Promise.withResolvers` needs Node 22). */
export interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

export function createDeferred(): Deferred {
  let ends: Pick<Deferred, "resolve" | "reject"> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    ends = { resolve, reject };
  });
  if (ends === undefined) throw new Error("the executor of a promise runs at once");
  return { promise, ...ends };
}
