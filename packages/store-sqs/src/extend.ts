import type { DriverExtension, OutboxClaim } from "@outbox/core";
import { changeVisibility } from "./calls/visibility.js";
import { ensureClock } from "./ensure-clock.js";
import { isLeaseOver, visibilitySeconds } from "./lease.js";
import { claimTokenOf, parseClaimToken } from "./received-message.js";
import type { StoreContext } from "./store-context.js";

/** Renews visibility timeouts, and those of the members that wait behind these in their groups. */
export async function extend(
  context: StoreContext,
  claims: readonly OutboxClaim[],
  leaseDurationMs: number,
): Promise<readonly DriverExtension[]> {
  if (claims.length === 0) return [];
  await ensureClock(context);
  const { calls, queues, clock, finished } = context;
  const changes = claims.map((claim) => ({
    claim,
    receiptHandle: parseClaimToken(claim.claimToken).receiptHandle,
    seconds:
      finished.get(claim.claimToken) !== undefined || isLeaseOver(claim, clock)
        ? 0
        : visibilitySeconds(claim, leaseDurationMs, clock),
  }));
  const sentAtMs = performance.now();
  // 0 would give the message back.
  const live = changes.filter(({ seconds }) => seconds > 0);
  const behind = membersBehind(context, live, leaseDurationMs);
  const results = await changeVisibility(calls, "extend", queues.pending, [...live, ...behind]);
  for (const member of behind) {
    if (results.get(member)?.kind !== "done") continue;
    context.hold?.renewed(member.groupId, member.token, sentAtMs, member.seconds * 1_000);
  }
  return changes.map((change) => {
    const { claim, seconds } = change;
    const result = results.get(change);
    if (result?.kind === "open") throw result.error;
    if (result?.kind !== "done") return { outcome: "stale-claim", claimExpiresAt: null };
    const lengthMs = Math.min(leaseDurationMs, seconds * 1_000);
    const groupId = context.claimed.get(claim.claimToken)?.groupId;
    context.claimed.renewed(claim.claimToken, sentAtMs + lengthMs);
    if (groupId != null) context.hold?.renewed(groupId, claim.claimToken, sentAtMs, lengthMs);
    const at = new Date(Math.floor(clock.atMs(sentAtMs)));
    return { outcome: "applied", at, claimExpiresAt: new Date(at.getTime() + lengthMs) };
  });
}

function membersBehind(
  { hold, claimed }: StoreContext,
  heads: readonly { readonly claim: OutboxClaim }[],
  leaseDurationMs: number,
) {
  if (hold === null) return [];
  const groups = heads.flatMap(({ claim }) => {
    const groupId = claimed.get(claim.claimToken)?.groupId;
    return groupId == null ? [] : [{ groupId, token: claim.claimToken }];
  });
  return hold.behind(groups).map((member) => ({
    receiptHandle: member.receiptHandle,
    groupId: member.groupId ?? "",
    token: claimTokenOf(member),
    seconds: Math.ceil(leaseDurationMs / 1_000),
  }));
}
