import type { StoreCapabilities } from "@outbox/core";

const hourMs = 60 * 60 * 1_000;

/** Longest a queue keeps a message, in ms. */
export const longestRetentionMs = 14 * 24 * hourMs;

/** Longest time from a receive to the end of its visibility timeout, in ms, renewals included. */
export const longestLeaseMs = 12 * hourMs;

/** What a standard queue with the longest retention can do. */
export const sqsStandardCapabilities: StoreCapabilities = {
  durability: "retention",
  transactionalEnqueue: false,
  // A handle from an earlier receive may still delete or release the message.
  fencing: "advisory",
  lateCompletion: "delivered-only",
  entryUniqueness: "advisory",
  // Receives are counted, and a release is followed by one; a copy counts for itself.
  counters: "upper-bound",
  selectionOrder: "advisory",
  claimKinds: "merged",
  typeFilter: "none",
  claimReplay: false,
  byteBound: "after-receive",
  keepsDelivered: "never",
  perKeyOrder: "none",
  crashIsolation: false,
  maxLeaseMs: longestLeaseMs,
  // Hop by hop.
  maxDelayMs: null,
  maxClaimCount: null,
  // Ten per call, but grouped by kind first, which only the store can do.
  maxTransitionBatch: null,
  maxParkedAgeMs: longestRetentionMs,
  // The Date header has whole seconds.
  timePrecisionMs: 1_000,
  token: "store",
};

/** What a FIFO queue with the longest retention can do. */
export const sqsFifoCapabilities: StoreCapabilities = {
  ...sqsStandardCapabilities,
  fencing: "refuses-expired",
  lateCompletion: "refused",
  entryUniqueness: "windowed",
  selectionOrder: "per-group",
  claimReplay: true,
  perKeyOrder: "send-order",
  maxDelayMs: 0,
};
