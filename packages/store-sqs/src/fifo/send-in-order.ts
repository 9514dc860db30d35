import type { BatchResult } from "../calls/run-batch.js";
import { type OutgoingMessage, sendMessages } from "../calls/send-messages.js";
import type { SqsCalls } from "../calls/sqs-calls.js";

/**
 * Sends messages; those of one group one after the other, each once the one before is in the queue:
 * in one batch, the first could fail and be repeated behind the second. What follows a failure in
 * its group is not sent, and has no result.
 */
export async function sendInOrder<One extends OutgoingMessage>(
  calls: SqsCalls,
  operation: string,
  queueUrl: string,
  messages: readonly One[],
  maxMessageBytes: number | null,
): Promise<ReadonlyMap<One, BatchResult>> {
  const results = new Map<One, BatchResult>();
  for (const round of roundsOf(messages, results)) {
    const sent = await sendMessages(calls, operation, queueUrl, round, maxMessageBytes);
    for (const [one, result] of sent) results.set(one, result);
  }
  return results;
}

/** Lists that may be sent side by side; `results` is looked at before each. */
function* roundsOf<One extends OutgoingMessage>(
  messages: readonly One[],
  results: ReadonlyMap<One, BatchResult>,
): Iterable<readonly One[]> {
  const groups = new Map<string, One[]>();
  for (const one of messages) {
    if (one.fifo === null) continue;
    const group = groups.get(one.fifo.groupId);
    if (group === undefined) groups.set(one.fifo.groupId, [one]);
    else group.push(one);
  }
  if (groups.size === 0) {
    yield messages;
    return;
  }
  for (let place = 0; ; place++) {
    const round = [...groups.values()].flatMap((group) => {
      const one = group[place];
      const before = group[place - 1];
      const mayGo = before === undefined || results.get(before)?.kind === "done";
      return one !== undefined && mayGo ? [one] : [];
    });
    if (round.length === 0) return;
    yield round;
  }
}
