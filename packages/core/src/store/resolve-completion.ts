import type { OutboxClaim } from "../contract/outbox-claim.js";
import type { ClaimCompletion } from "../contract/outbox-claim-store.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { DriverCompletion } from "../contract/store-driver.js";
import type { TransitionWrite } from "../contract/transition.js";
import {
  deadLetteredWrite,
  deferredWrite,
  deliveredWrite,
  failedWrite,
  releaseWrite,
  savedWrite,
} from "../entry/transition-writes.js";
import type { Timing } from "../timing/timing.js";
import {
  refuseUnknownKeys,
  requireBoolean,
  requireDurationMs,
  requireObject,
  requireOneOf,
  requireString,
} from "../validation/argument-checks.js";
import {
  requireClaim,
  requireDeliveredResult,
  requireEmissionError,
  requireSavable,
  resolveRetry,
} from "../validation/resolve-transition.js";

/** What each kind of completion takes. Anything else would be a wish that is silently ignored. */
const keysOf: Readonly<Record<ClaimCompletion["kind"], readonly string[]>> = {
  delivered: ["result"],
  failed: ["error", "retry"],
  deferred: ["retryInMs", "error"],
  "dead-lettered": ["error", "reason", "countsFailure"],
  release: ["delayMs"],
};

/** Checks one completion and applies the state machine to it. `path` is "" for a single call. */
export function resolveCompletion(
  completion: ClaimCompletion,
  path: string,
  timing: Timing,
): DriverCompletion {
  requireObject(path === "" ? "completion" : path, completion);
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  requireOneOf(at("kind"), completion.kind, Object.keys(keysOf));
  refuseUnknownKeys(path, completion, ["claim", "kind", ...keysOf[completion.kind]]);
  const claim = requireClaim(at("claim"), completion.claim);
  return { claim, write: resolveWrite(completion, at, storeNow(claim, timing)) };
}

function resolveWrite(
  completion: ClaimCompletion,
  at: (name: string) => string,
  now: Date,
): TransitionWrite {
  const { entry } = completion.claim;
  switch (completion.kind) {
    case "delivered": {
      const { result = {} } = completion;
      return deliveredWrite(entry, requireDeliveredResult(at("result"), result));
    }
    case "failed": {
      const error = requireEmissionError(at("error"), completion.error);
      return failedWrite(entry, error, resolveRetry(at("retry"), completion.retry), now);
    }
    case "deferred": {
      const inMs = requireDurationMs(at("retryInMs"), completion.retryInMs);
      const { error } = completion;
      if (error !== undefined) requireEmissionError(at("error"), error);
      return deferredWrite(entry, { inMs }, error ?? null, now);
    }
    case "dead-lettered": {
      const error = requireEmissionError(at("error"), completion.error);
      const { reason = error.code, countsFailure = true } = completion;
      requireString(at("reason"), reason);
      requireBoolean(at("countsFailure"), countsFailure);
      return deadLetteredWrite(entry, error, reason, countsFailure, now);
    }
    case "release": {
      const { delayMs } = completion;
      return releaseWrite(
        entry,
        delayMs === undefined ? null : requireDurationMs(at("delayMs"), delayMs),
      );
    }
  }
}

export function resolveSaveClaim(claim: OutboxClaim, next: OutboxEntry): DriverCompletion {
  requireClaim("claim", claim);
  requireSavable("entry", claim.entry, next);
  return { claim, write: savedWrite(claim.entry, next) };
}

/** The store's clock, as far as this process can tell without asking. */
function storeNow(claim: OutboxClaim, timing: Timing): Date {
  const untilExpiry = claim.deadline.monotonicMs - timing.monotonic();
  return new Date(Math.round(claim.claimExpiresAt.getTime() - untilExpiry));
}
