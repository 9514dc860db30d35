import { randomUUID } from "node:crypto";
import type { ClaimBatch, ClaimExtension } from "../contract/claim-request.js";
import type { LeaseDeadline, OutboxClaim } from "../contract/outbox-claim.js";
import type { ClaimCompletion, OutboxClaimStore } from "../contract/outbox-claim-store.js";
import type {
  ClaimCommand,
  DriverClaim,
  DriverClaimBatch,
  StoreDriver,
} from "../contract/store-driver.js";
import type { Timing } from "../timing/timing.js";
import {
  refuseUnknownKeys,
  requireDurationMs,
  requireList,
  requireObject,
} from "../validation/argument-checks.js";
import {
  resolveClaimRequest,
  resolveLeaseDurationMs,
} from "../validation/resolve-claim-request.js";
import { requireClaim } from "../validation/resolve-transition.js";
import { batchesWithoutRepeats } from "./batches-without-repeats.js";
import { brokenDriver } from "./broken-driver.js";
import { completeInBatches } from "./complete-in-batches.js";
import { leaseDeadline, readClocks } from "./lease-deadline.js";
import { resolveCompletion, resolveSaveClaim } from "./resolve-completion.js";
import type { StoreCalls } from "./store-calls.js";

type ClaimOperations = Omit<
  OutboxClaimStore,
  "contractVersion" | "storeName" | "capabilities" | "close" | typeof Symbol.asyncDispose
>;

/** The claim half of a store. */
export function claimOperations(
  driver: StoreDriver<never>,
  calls: StoreCalls,
  timing: Timing,
): ClaimOperations {
  const { capabilities } = driver;

  const claim = async (kind: ClaimCommand["kind"], request: unknown): Promise<ClaimBatch> => {
    const resolved = resolveClaimRequest(request as never, kind, capabilities);
    let sentAt = readClocks(timing);
    // With an unknown outcome a repeat would leave the first batch leased to nobody, unless the
    // store can find it again.
    const rule = resolved.claimId === null ? "if-not-applied" : "always";
    const batch = await calls.run("claim", rule, () => {
      sentAt = readClocks(timing);
      return driver.claim({ ...resolved, tokenPrefix: randomUUID() });
    });
    return toClaimBatch(driver, batch, sentAt);
  };

  const extend = async (
    claims: readonly OutboxClaim[],
    leaseDurationMs: number,
  ): Promise<readonly ClaimExtension[]> => {
    let sentAt = readClocks(timing);
    const extensions = await calls.run("extend", "always", () => {
      sentAt = readClocks(timing);
      return driver.extend(claims, leaseDurationMs);
    });
    return claims.map((claim, index) => {
      const extension = extensions[index];
      if (extension === undefined) throw brokenDriver(driver, "extend", "a missing outcome");
      if (extension.outcome !== "applied") return { outcome: extension.outcome, claim: null };
      const claimExpiresAt = extension.claimExpiresAt ?? claim.claimExpiresAt;
      const lengthMs =
        extension.at === undefined
          ? leaseDurationMs
          : claimExpiresAt.getTime() - extension.at.getTime();
      return {
        outcome: "applied",
        claim: {
          ...claim,
          entry: { ...claim.entry, claimExpiresAt },
          claimExpiresAt,
          deadline: leaseDeadline(sentAt, lengthMs),
        },
      };
    });
  };

  const complete = async (completions: readonly ClaimCompletion[]) => {
    const writes = completions.map((completion, index) =>
      resolveCompletion(completion, `completions[${index}]`, timing),
    );
    return completeInBatches(driver, calls, writes);
  };

  const completeOne = async (completion: ClaimCompletion) => {
    const write = resolveCompletion(completion, "", timing);
    return single(await completeInBatches(driver, calls, [write]));
  };

  return {
    claim: (request) => claim("any", request),
    claimPending: (request) => claim("pending", request),
    claimRetryReady: (request) => claim("retry-ready", request),

    markClaimDelivered: (claim, result) => completeOne({ claim, kind: "delivered", result }),
    markClaimFailed: (claim, error, retry) => completeOne({ claim, kind: "failed", error, retry }),
    markClaimDeadLettered: (claim, error, reason) =>
      completeOne({ claim, kind: "dead-lettered", error, reason }),
    saveClaim: async (claim, entry) =>
      single(await completeInBatches(driver, calls, [resolveSaveClaim(claim, entry)])),
    releaseClaim: async (claim, options = {}) => {
      refuseUnknownKeys("options", requireObject("options", options), ["delayMs"]);
      const { delayMs } = options;
      if (delayMs !== undefined) requireDurationMs("options.delayMs", delayMs);
      return completeOne({ claim, kind: "release", delayMs });
    },

    completeClaims: async (completions) => {
      if (Array.isArray(completions) && completions.length === 0) return [];
      requireList("completions", completions, (_, value) => value);
      return complete(completions);
    },

    extendClaims: async (claims, options) => {
      if (Array.isArray(claims) && claims.length === 0) return [];
      requireList("claims", claims, requireClaim);
      refuseUnknownKeys("options", requireObject("options", options), ["leaseDurationMs"]);
      const leaseDurationMs = resolveLeaseDurationMs(
        "options.leaseDurationMs",
        options.leaseDurationMs,
        capabilities,
      );
      const extensions: ClaimExtension[] = [];
      for (const batch of batchesWithoutRepeats(
        claims,
        ({ entry }) => entry.entryId,
        capabilities.maxTransitionBatch,
      )) {
        extensions.push(...(await extend(batch, leaseDurationMs)));
      }
      return extensions;
    },
  };
}

function toClaimBatch(
  driver: StoreDriver<never>,
  batch: DriverClaimBatch,
  sentAt: LeaseDeadline,
): ClaimBatch {
  return {
    claims: batch.claims.map((claim) => toClaim(driver, claim, batch.at, sentAt)),
    more: batch.more,
    suspectsDue: batch.suspectsDue,
    ...(batch.cursor === null ? {} : { cursor: batch.cursor }),
  };
}

function toClaim(
  driver: StoreDriver<never>,
  { entry, dueAt }: DriverClaim,
  storeNow: Date,
  sentAt: LeaseDeadline,
): OutboxClaim {
  const { claimOwner, claimToken, claimedAt, claimExpiresAt } = entry;
  if (claimOwner === null || claimToken === null || claimedAt === null || claimExpiresAt === null) {
    throw brokenDriver(
      driver,
      "claim",
      `entry ${entry.entryId} without owner, token, claimedAt and claimExpiresAt`,
    );
  }
  return {
    entry,
    workerId: claimOwner,
    claimToken,
    dueAt,
    claimedAt,
    claimExpiresAt,
    deadline: leaseDeadline(sentAt, claimExpiresAt.getTime() - storeNow.getTime()),
  };
}

function single<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined) throw new RangeError("expected one result");
  return item;
}
