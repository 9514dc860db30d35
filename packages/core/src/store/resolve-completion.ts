import type { OutboxClaim } from "../contract/outbox-claim.js";
import type { ClaimCompletion } from "../contract/outbox-claim-store.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { DriverCompletion } from "../contract/store-driver.js";
import {
  deadLetteredWrite,
  deferredWrite,
  deliveredWrite,
  failedWrite,
  releaseWrite,
  savedWrite,
} from "../entry/transition-writes.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import type { Timing } from "../timing/timing.js";
import { describeValue, requireDurationMs, requireObject } from "../validation/argument-checks.js";
import {
  requireClaim,
  requireDeliveredResult,
  requireEmissionError,
  requireSavable,
  resolveRetry,
} from "../validation/resolve-transition.js";

/** Checks one completion and applies the state machine to it. `path` is "" for a single call. */
export function resolveCompletion(
  completion: ClaimCompletion,
  path: string,
  timing: Timing,
): DriverCompletion {
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  requireObject(path === "" ? "completion" : path, completion);
  const claim = requireClaim(at("claim"), completion.claim);
  const { entry } = claim;
  switch (completion.kind) {
    case "delivered":
      return {
        claim,
        write: deliveredWrite(entry, requireDeliveredResult(at("result"), completion.result ?? {})),
      };
    case "failed":
      return {
        claim,
        write: failedWrite(
          entry,
          requireEmissionError(at("error"), completion.error),
          resolveRetry(at("retry"), completion.retry),
          storeNow(claim, timing),
        ),
      };
    case "deferred":
      return {
        claim,
        write: deferredWrite(
          entry,
          { inMs: requireDurationMs(at("retryInMs"), completion.retryInMs) },
          completion.error === undefined
            ? null
            : requireEmissionError(at("error"), completion.error),
          storeNow(claim, timing),
        ),
      };
    case "dead-lettered": {
      const error = requireEmissionError(at("error"), completion.error);
      const reason: unknown = completion.reason ?? error.code;
      if (typeof reason !== "string") {
        throw new InvalidArgumentError(
          at("reason"),
          `must be a string, not ${describeValue(reason)}`,
        );
      }
      return {
        claim,
        write: deadLetteredWrite(
          entry,
          error,
          reason,
          completion.countsFailure ?? true,
          storeNow(claim, timing),
        ),
      };
    }
    case "release":
      return {
        claim,
        write: releaseWrite(
          entry,
          completion.delayMs === undefined
            ? null
            : requireDurationMs(at("delayMs"), completion.delayMs),
        ),
      };
    default:
      throw new InvalidArgumentError(
        at("kind"),
        `must be one of delivered, failed, deferred, dead-lettered, release, not ${describeValue((completion as { kind?: unknown }).kind)}`,
      );
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
