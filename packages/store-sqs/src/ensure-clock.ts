import { OutboxError } from "@outbox/core";
import type { StoreContext } from "./store-context.js";

/** Asks SQS for the time, where no call has brought it yet: a claim can be finished by a new store. */
export async function ensureClock({ clock, checks }: StoreContext): Promise<void> {
  if (clock.isSet) return;
  await checks.pendingForEnqueue();
  if (clock.isSet) return;
  throw new OutboxError(
    "outbox.sqs_no_date",
    "SQS's reply had no Date header, which leases and due times are reckoned by; look for a proxy that removes it",
  );
}
