import type { InsertTarget, StoreCapabilities, StoreDriver } from "@outbox/core";
import { admit } from "./admit.js";
import { claim } from "./claim.js";
import { classifyError } from "./classify-error.js";
import { complete } from "./complete.js";
import { extend } from "./extend.js";
import { ClaimReplays } from "./fifo/claim-replays.js";
import { insert } from "./insert.js";
import { Intake } from "./intake.js";
import { QuotaWatch } from "./quota-watch.js";
import { createRedrive } from "./redrive.js";
import type { StoreContext } from "./store-context.js";

/** The driver on a context. `closeClients` ends the clients that are its own. */
export function createDriver(
  context: StoreContext,
  capabilities: StoreCapabilities,
  closeClients: () => void,
) {
  const intake = new Intake(context, (messages) => admit(context, messages));
  const parts = {
    intake,
    replays: context.isFifo ? new ClaimReplays(context.finished) : null,
    quota: new QuotaWatch(context.calls, context.queues.pending),
  };
  return {
    name: context.isFifo ? "sqs-fifo" : "sqs",
    contractVersion: 1,
    capabilities,
    // The target is named for its type: a queue has no transaction to join.
    insert: (entries, _target: InsertTarget<never>) => insert(context, entries),
    claim: (command) => claim(context, parts, command),
    complete: (completions) => complete(context, completions),
    extend: (claims, leaseDurationMs) => extend(context, claims, leaseDurationMs),
    classifyError,
    async close() {
      await intake.close();
      closeClients();
    },
    redrive: createRedrive(context),
  } as const satisfies StoreDriver<never>;
}
