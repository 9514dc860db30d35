import type { ClaimRequest } from "../contract/claim-request.js";
import type { StoreCapabilities } from "../contract/store-capabilities.js";
import type { ClaimCommand } from "../contract/store-driver.js";
import { UnsupportedError } from "../errors/unsupported-error.js";
import {
  refuseUnknownKeys,
  requireDurationMs,
  requireFilledText,
  requireId,
  requireInteger,
  requireObject,
  requireOneOf,
} from "./argument-checks.js";
import { parseTypePatterns } from "./type-patterns.js";

/** Defaults of a claim; the drain's own are the same. */
export const claimDefaults = { leaseDurationMs: 60_000, maxCount: 100 } as const;

/** Longest lease where the store names none, in ms: thirty days. */
const longestLeaseMs = 30 * 24 * 60 * 60 * 1_000;

/** Most entries of one claim where the store names none. */
export const largestClaim = 100_000;

/** Checks a claim request and fills in the defaults. */
export function resolveClaimRequest(
  request: ClaimRequest,
  kind: ClaimCommand["kind"],
  capabilities: StoreCapabilities,
): Omit<ClaimCommand, "tokenPrefix"> {
  refuseUnknownKeys("request", requireObject("request", request), [
    "workerId",
    "leaseDurationMs",
    "maxCount",
    "maxBytes",
    "types",
    "suspects",
    "claimId",
    "after",
  ]);
  const maxLeaseMs = capabilities.maxLeaseMs ?? longestLeaseMs;
  const maxClaimCount = Math.min(largestClaim, capabilities.maxClaimCount ?? largestClaim);
  const {
    leaseDurationMs = Math.min(claimDefaults.leaseDurationMs, maxLeaseMs),
    maxCount = Math.min(claimDefaults.maxCount, maxClaimCount),
    suspects = "include",
  } = request;
  requireOneOf("request.suspects", suspects, ["include", "exclude", "only"]);
  if (kind !== "any" && capabilities.claimKinds === "merged") {
    throw new UnsupportedError(
      "this store cannot claim pending and retry-ready entries apart (claimKinds: merged); use claim()",
    );
  }
  if (request.types !== undefined && capabilities.typeFilter === "none") {
    throw new UnsupportedError(
      "this store cannot filter by type (typeFilter: none); leave request.types out and defer what cannot be emitted here",
    );
  }
  if (suspects !== "include" && !capabilities.crashIsolation) {
    throw new UnsupportedError(
      "this store cannot claim suspects apart (crashIsolation: false); leave request.suspects out",
    );
  }
  if (request.claimId !== undefined && !capabilities.claimReplay) {
    throw new UnsupportedError(
      "this store cannot find a claim again (claimReplay: false); leave request.claimId out",
    );
  }
  return {
    kind,
    workerId: requireId("request.workerId", request.workerId),
    leaseDurationMs: resolveLeaseDurationMs(
      "request.leaseDurationMs",
      leaseDurationMs,
      capabilities,
    ),
    maxCount: requireInteger("request.maxCount", maxCount, { min: 1, max: maxClaimCount }),
    maxBytes:
      request.maxBytes === undefined
        ? null
        : requireInteger("request.maxBytes", request.maxBytes, {
            min: 1,
            max: Number.MAX_SAFE_INTEGER,
          }),
    types: request.types === undefined ? null : parseTypePatterns("request.types", request.types),
    suspects,
    claimId: request.claimId === undefined ? null : requireId("request.claimId", request.claimId),
    after: request.after === undefined ? null : requireCursor("request.after", request.after),
  };
}

export function resolveLeaseDurationMs(
  argument: string,
  value: unknown,
  capabilities: Pick<StoreCapabilities, "maxLeaseMs">,
): number {
  return requireDurationMs(argument, value, {
    min: 1,
    max: capabilities.maxLeaseMs ?? longestLeaseMs,
  });
}

export function requireCursor(argument: string, value: unknown): string {
  return requireFilledText(argument, value, 1_000);
}
