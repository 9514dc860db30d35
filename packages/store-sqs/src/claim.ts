import {
  type ClaimCommand,
  type DriverClaim,
  type DriverClaimBatch,
  decodePayload,
  type OutboxEntry,
  unclaimedDueTime,
} from "@outbox/core";
import { explainedError } from "./calls/explained-error.js";
import { giveBack } from "./calls/visibility.js";
import { ensureClock } from "./ensure-clock.js";
import type { ClaimReplays } from "./fifo/claim-replays.js";
import type { Intake } from "./intake.js";
import type { QuotaWatch } from "./quota-watch.js";
import { claimTokenOf, type ReceivedEntry } from "./received-message.js";
import type { StoreContext } from "./store-context.js";

/** What claims need beside the context. */
export interface ClaimParts {
  readonly intake: Intake;
  /** Leases by claim id, for a queue whose receives can be repeated; else `null`. */
  readonly replays: ClaimReplays | null;
  readonly quota: QuotaWatch;
}

export async function claim(
  context: StoreContext,
  { intake, replays, quota }: ClaimParts,
  command: ClaimCommand,
): Promise<DriverClaimBatch> {
  const { clock, checks } = context;
  await checks.bothForClaim(command.leaseDurationMs);
  await ensureClock(context);
  const sentAtMs = performance.now();
  context.claimed.prune(sentAtMs);
  const found = replays?.find(command.claimId, sentAtMs) ?? [];
  const maxCount = command.maxCount - found.length;
  const taken =
    maxCount > 0 ? await take(intake, { ...command, maxCount }) : { entries: [], wasFull: true };
  const entries = await withinBytes(context, taken.entries, found, command.maxBytes);
  if (found.length === 0 && taken.entries.length === 0) await quota.look(intake.emptyPolls);
  const fresh = entries.map((received) => toClaim(context, received, command.workerId));
  replays?.remember(command.claimId, fresh, entries);
  return {
    // Core reckons from when the claim was sent; a long poll's leases begin later than that.
    at: new Date(Math.floor(clock.atMs(sentAtMs))),
    claims: [...found.map((one) => ({ ...one, dueAt: null })), ...fresh],
    more: moreAfter(context, fresh, taken.wasFull || entries.length < taken.entries.length),
    suspectsDue: false,
    cursor: null,
  };
}

function moreAfter(
  { hold }: StoreContext,
  fresh: readonly DriverClaim[],
  isLikely: boolean,
): DriverClaimBatch["more"] {
  // They wait behind members of their groups that are in somebody's hands.
  if (fresh.length === 0 && hold !== null && hold.size > 0) return "contended";
  return isLikely ? "likely" : "none";
}

async function take(intake: Intake, request: Parameters<Intake["take"]>[0]) {
  try {
    return await intake.take(request);
  } catch (error) {
    throw explainedError("claim", error);
  }
}

function toClaim(context: StoreContext, received: ReceivedEntry, workerId: string): DriverClaim {
  const { clock, claimed, remembered } = context;
  const { snapshot, leasedAtMs, leaseDurationMs } = received;
  const token = claimTokenOf(received);
  const claimedAt = new Date(Math.floor(clock.atMs(leasedAtMs)));
  const entry: OutboxEntry = {
    ...snapshot.entry,
    ...remembered.stateOf(received.messageId),
    envelope: { ...snapshot.entry.envelope, payload: decodePayload(snapshot.payload) },
    claimOwner: workerId,
    claimToken: token,
    claimedAt,
    claimExpiresAt: new Date(claimedAt.getTime() + leaseDurationMs),
    claimAttemptCount: snapshot.entry.claimAttemptCount + received.receiveCount,
    abandonedClaimCount: 0,
    soloClaim: false,
    soloAbandonedCount: 0,
    resolvedClaimToken: null,
    resolvedTransition: null,
  };
  claimed.add(received);
  return { entry, dueAt: unclaimedDueTime(entry) };
}

/** The longest prefix within the bound, the first always; the surplus is given back. */
async function withinBytes(
  { calls, queues, hold }: StoreContext,
  received: readonly ReceivedEntry[],
  found: readonly DriverClaim[],
  maxBytes: number | null,
): Promise<readonly ReceivedEntry[]> {
  if (maxBytes === null) return received;
  let bytes = found.reduce((sum, { entry }) => sum + entry.payloadBytes, 0);
  const end = received.findIndex(({ snapshot }, index) => {
    bytes += snapshot.entry.payloadBytes;
    return (index > 0 || found.length > 0) && bytes > maxBytes;
  });
  if (end === -1) return received;
  const surplus = received.slice(end);
  // In a group nobody overtakes: its later members go back too.
  const behind = surplus.flatMap((one) => hold?.drop(one.groupId ?? "", claimTokenOf(one)) ?? []);
  await giveBack(calls, queues.pending, [...surplus, ...behind]);
  return received.slice(0, end);
}
