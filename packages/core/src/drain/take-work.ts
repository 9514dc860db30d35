import { unclaimedDueTime } from "../entry/due-time.js";
import type { Timing } from "../timing/timing.js";
import type { EventSink } from "./outbox-event.js";
import type { WorkItem } from "./work-item.js";
import type { TakenWork, WorkRequest, WorkSource } from "./work-source.js";

/** Takes work and tells of it; `lagMs` is how long the oldest of it had been due. */
export async function takeWork(
  source: WorkSource,
  request: WorkRequest,
  timing: Timing,
  events: EventSink,
): Promise<TakenWork & { readonly lagMs: number }> {
  const sentAt = timing.monotonic();
  const { items, more } = await source.take(request);
  const [oldest] = items;
  const lagMs = oldest === undefined ? 0 : lagOf(oldest, timing);
  const durationMs = timing.monotonic() - sentAt;
  events.emit({ type: "claim", count: items.length, more, durationMs, lagMs });
  return { items, more, lagMs };
}

function lagOf({ entry, claim }: WorkItem, timing: Timing): number {
  const due = claim?.dueAt ?? unclaimedDueTime(entry);
  const seenAt = claim?.claimedAt.getTime() ?? timing.wall();
  return due === null ? 0 : Math.max(0, seenAt - due.getTime());
}
