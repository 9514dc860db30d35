import type { OutgoingMessage } from "../calls/send-messages.js";
import { longestDelayMs } from "../calls/send-messages.js";
import { messageDeduplicationId, messageGroupId, parkedGroupId } from "../fifo/fifo-id.js";
import { entryAttributes, messageBytes } from "./message-attributes.js";
import type { Snapshot, StoredEntry } from "./snapshot.js";
import { writeSnapshot } from "./write-snapshot.js";

export interface OutgoingEntryOptions {
  readonly isFifo: boolean;
  readonly target: "pending" | "deadLetter";
  /** Until it is due, in ms. */
  readonly delayMs: number;
  /** The longest body with its attributes that the queue takes; texts about failures make room. */
  readonly maxBytes: number | null;
}

/** The message that carries an entry. A wait beyond one delay is told by `notBefore`. */
export function outgoingEntry(
  { generation, entry, payload }: Omit<Snapshot, "notBefore">,
  { isFifo, target, delayMs, maxBytes }: OutgoingEntryOptions,
  nowMs: number,
): OutgoingMessage {
  const { entryId, destination, orderingKey } = entry;
  const attributes = entryAttributes(entry.envelope);
  const notBefore = delayMs > longestDelayMs ? new Date(Math.ceil(nowMs + delayMs)) : null;
  const write = (smaller: StoredEntry) =>
    writeSnapshot({ generation, notBefore, entry: smaller, payload });
  let body = write(entry);
  for (const smaller of withFewerTexts(entry)) {
    if (maxBytes === null || messageBytes(body, attributes) <= maxBytes) break;
    body = write(smaller);
  }
  return {
    body,
    attributes,
    delaySeconds: Math.ceil(Math.min(Math.max(0, delayMs), longestDelayMs) / 1_000),
    fifo: isFifo
      ? {
          groupId:
            target === "pending"
              ? messageGroupId(orderingKey, destination, entryId)
              : parkedGroupId(entryId),
          deduplicationId: messageDeduplicationId(entryId, generation),
        }
      : null,
  };
}

/** Room for an entry that fits at enqueue and then gathers failures: their words go first. */
function* withFewerTexts(entry: StoredEntry): Iterable<StoredEntry> {
  for (const length of [200, 20]) {
    const failures = entry.failures.map((failure) => ({
      ...failure,
      code: failure.code.slice(0, 100),
      message: failure.message.slice(0, length).replace(/\p{Surrogate}/gu, ""),
    }));
    yield { ...entry, failures, deadLetterReason: cut(entry.deadLetterReason, length) };
  }
  yield { ...entry, failures: [], deadLetterReason: cut(entry.deadLetterReason, 20) };
}

function cut(text: string | null, length: number): string | null {
  return text === null ? null : text.slice(0, length).replace(/\p{Surrogate}/gu, "");
}
