import type {
  ClaimTransition,
  EmissionError,
  EmissionStatus,
  OutboxClaim,
  OutboxEntry,
  StoreCapabilities,
  TransitionKind,
} from "@outbox/core";
import type { StoreUnderTest } from "../harness/store-under-test.js";

/** An ordinary error of a provider. */
export const providerError: EmissionError = {
  code: "http.503",
  message: "provider unavailable",
  isRetryable: true,
};

export const rejection: EmissionError = {
  code: "http.422",
  message: "the provider rejects this entry",
  isRetryable: false,
};

/** One way to end a claim, as the contract names it. */
export interface NamedTransition {
  readonly name: string;
  readonly kind: TransitionKind;
  /** The status it leads to; `null` keeps the one before. */
  readonly leadsTo: EmissionStatus | null;
  /** What it adds to `retryCount`. */
  readonly counts: 0 | 1;
  apply(store: StoreUnderTest, claim: OutboxClaim): Promise<ClaimTransition>;
}

/** How far in the future the retries and deferrals below are due, in ms; no case waits for it. */
const laterMs = 600_000;

const inALittle = (claim: OutboxClaim): Date => new Date(claim.claimedAt.getTime() + laterMs);

const saved = (claim: OutboxClaim, changes: Partial<OutboxEntry>): OutboxEntry => ({
  ...claim.entry,
  ...changes,
});

const delivered: NamedTransition = {
  name: "markClaimDelivered",
  kind: "delivered",
  leadsTo: "delivered",
  counts: 0,
  apply: (store, claim) => store.markClaimDelivered(claim, { providerMessageId: "message-1" }),
};

const deadLettered: NamedTransition = {
  name: "markClaimDeadLettered",
  kind: "dead-lettered",
  leadsTo: "dead-lettered",
  counts: 1,
  apply: (store, claim) => store.markClaimDeadLettered(claim, rejection, "no hope"),
};

const parked: NamedTransition = {
  name: "markClaimFailed without a retry",
  kind: "failed",
  leadsTo: "failed",
  counts: 1,
  apply: (store, claim) => store.markClaimFailed(claim, rejection),
};

const retry: NamedTransition = {
  name: "markClaimFailed with a retry",
  kind: "retryable-failure",
  leadsTo: "retryable-failure",
  counts: 1,
  apply: (store, claim) => store.markClaimFailed(claim, providerError, { retryInMs: laterMs }),
};

const deferred: NamedTransition = {
  name: "saveClaim to deferred",
  kind: "deferred",
  leadsTo: "deferred",
  counts: 0,
  apply: (store, claim) =>
    store.saveClaim(claim, saved(claim, { status: "deferred", nextRetryAt: inALittle(claim) })),
};

const startedOver: NamedTransition = {
  name: "saveClaim to pending",
  kind: "pending",
  leadsTo: "pending",
  counts: 0,
  apply: (store, claim) =>
    store.saveClaim(claim, saved(claim, { status: "pending", availableAt: inALittle(claim) })),
};

const released: NamedTransition = {
  name: "releaseClaim",
  kind: "release",
  leadsTo: null,
  counts: 0,
  apply: (store, claim) => store.releaseClaim(claim),
};

/** Every transition there is, one way of calling each. */
export const claimTransitions: readonly NamedTransition[] = [
  delivered,
  retry,
  parked,
  deferred,
  deadLettered,
  startedOver,
  released,
];

export const terminalTransitions: readonly NamedTransition[] = [delivered, deadLettered];

/** Those whose row can be looked at afterwards. */
export function visibleTransitions(
  transitions: readonly NamedTransition[],
  { keepsDelivered }: StoreCapabilities,
): readonly NamedTransition[] {
  return keepsDelivered === "never"
    ? transitions.filter((transition) => transition.kind !== "delivered")
    : transitions;
}
