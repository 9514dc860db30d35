import type { StoreCapabilities } from "@outbox/core";

export const postgresCapabilities: StoreCapabilities = {
  durability: "durable",
  transactionalEnqueue: true,
  fencing: "enforced",
  lateCompletion: "applied",
  entryUniqueness: "enforced",
  counters: "exact",
  selectionOrder: "exact",
  claimKinds: "separate",
  typeFilter: "in-claim",
  claimReplay: true,
  byteBound: "in-claim",
  keepsDelivered: "option",
  perKeyOrder: "none",
  crashIsolation: true,
  maxLeaseMs: null,
  maxDelayMs: null,
  maxClaimCount: null,
  maxTransitionBatch: null,
  maxParkedAgeMs: null,
  // timestamptz keeps microseconds.
  timePrecisionMs: 0.001,
  token: "core",
};
