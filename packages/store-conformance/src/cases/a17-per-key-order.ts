import assert from "node:assert/strict";
import type { ConformanceCase } from "../suite/conformance-case.js";

const refused: ConformanceCase = {
  id: "A17-ordering-key-is-refused-where-not-kept",
  invariant: "A17",
  title: "a store without per-key order refuses an orderingKey instead of ignoring it",
  requires: ({ capabilities: { perKeyOrder } }) =>
    perKeyOrder === "none"
      ? "negative"
      : {
          notRun: `the store declares perKeyOrder: ${perKeyOrder}, for which this kit has no cases yet`,
        },
  run: async () => undefined,
  runNegative: async (context) => {
    await assert.rejects(context.enqueue([{ type: "order.placed", orderingKey: "order-1" }]), {
      code: "outbox.unsupported",
    });
    assert.deepEqual(await context.raw.readEntries(), []);
  },
};

export const perKeyOrder: readonly ConformanceCase[] = [refused];
