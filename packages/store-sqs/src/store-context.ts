import type { SqsCalls } from "./calls/sqs-calls.js";
import type { ClaimedMessages } from "./claimed-messages.js";
import type { GroupHold } from "./fifo/group-hold.js";
import type { RememberedWrites } from "./fifo/remembered-writes.js";
import type { FinishedClaims } from "./finished-claims.js";
import type { ServerClock } from "./server-clock.js";
import type { OutboxQueues, QueueChecks } from "./setup/queue-checks.js";

/** When an entry that was received too often is dead-lettered; see the option of this name. */
export interface MaxReceiveCount {
  readonly count: number;
  readonly isSuspended: () => boolean;
}

/** What every part of the driver works with. */
export interface StoreContext {
  readonly queues: OutboxQueues;
  readonly isFifo: boolean;
  readonly calls: SqsCalls;
  readonly clock: ServerClock;
  readonly checks: QueueChecks;
  readonly longPollMs: number;
  readonly maxReceiveCount: MaxReceiveCount | null;
  readonly claimed: ClaimedMessages;
  readonly finished: FinishedClaims;
  /** What this process remembers of messages that it gave back. */
  readonly remembered: RememberedWrites;
  /** One member of a message group at a time; `null` for a standard queue. */
  readonly hold: GroupHold | null;
}
