import type { StoreCapabilities } from "@outbox/core";

type Values = { readonly [Name in keyof StoreCapabilities]: (value: unknown) => boolean };

const oneOf =
  (...values: readonly unknown[]) =>
  (value: unknown) =>
    values.includes(value);

const limit = (value: unknown) => value === null || (Number.isInteger(value) && Number(value) >= 0);

/** What each declared value may be. All are required: a missing one would pass for "no". */
export const capabilityValues: Values = {
  durability: oneOf("process", "durable", "retention"),
  transactionalEnqueue: oneOf(true, false),
  fencing: oneOf("enforced", "refuses-expired", "advisory"),
  lateCompletion: oneOf("applied", "delivered-only", "refused"),
  entryUniqueness: oneOf("enforced", "windowed", "advisory"),
  counters: oneOf("exact", "upper-bound"),
  selectionOrder: oneOf("exact", "exact-uncontended", "per-group", "advisory"),
  claimKinds: oneOf("separate", "merged"),
  typeFilter: oneOf("in-claim", "none"),
  claimReplay: oneOf(true, false),
  byteBound: oneOf("in-claim", "after-receive"),
  keepsDelivered: oneOf("always", "option", "never"),
  perKeyOrder: oneOf("none", "enforced", "send-order"),
  crashIsolation: oneOf(true, false),
  maxLeaseMs: limit,
  maxDelayMs: limit,
  maxClaimCount: limit,
  maxTransitionBatch: limit,
  maxParkedAgeMs: limit,
  timePrecisionMs: (value) => typeof value === "number" && value > 0,
  token: oneOf("core", "store"),
};
