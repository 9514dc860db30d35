import { StoreError } from "@outbox/core";
import { expect, test } from "vitest";
import { failMembers } from "./testing/faults.js";
import { openOutbox } from "./testing/open-outbox.js";
import { temporaryServer } from "./testing/temporary-server.js";

const server = temporaryServer();

const entries = 1_000;
const rounds = 20;
const unavailable = { code: "http.503", message: "unavailable", isRetryable: true };

/** Copies of entries in both queues, and how many entries there are at all. */
async function countCopies(outbox: Awaited<ReturnType<typeof openOutbox>>) {
  const messages = [...(await outbox.pending()), ...(await outbox.deadLetter())];
  const ids = messages.map(({ snapshot }) => snapshot?.entry.entryId ?? "");
  return { copies: ids.length, distinct: new Set(ids).size };
}

/** As a drain does: what could not be written is kept and tried again. */
async function untilWritten(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!StoreError.isInstance(error) || !error.isTransient) throw error;
    }
  }
}

test("with the provider down and emissions slower than the lease, copies stay bounded and none is lost", {
  timeout: 300_000,
}, async () => {
  await using outbox = await openOutbox(server());
  await outbox.store.enqueue(Array.from({ length: entries }, () => ({ type: "order.placed" })));
  const worst = { copies: 0 };
  // Two workers, of which one reports in time and one too late; some deletes fail for now.
  const workers = [outbox, outbox.openStore()];
  for (const { faults } of workers) {
    faults.always(
      "DeleteMessageBatchCommand",
      failMembers("InternalError", () => Math.random() < 0.004, { senderFault: false }),
    );
  }
  for (let round = 0; round < rounds; round++) {
    const [inTime, tooLate] = await Promise.all(
      workers.map(({ store }, index) =>
        store.claim({
          workerId: `worker-${index}`,
          maxCount: entries / 2,
          leaseDurationMs: 10_000,
        }),
      ),
    );
    const fail = (claims: NonNullable<typeof inTime>["claims"]) =>
      claims.map((claim) => ({
        claim,
        kind: "failed" as const,
        error: unavailable,
        retry: { retryInMs: 1_000 },
      }));
    await untilWritten(() => outbox.store.completeClaims(fail(inTime?.claims ?? [])));
    await outbox.sqs.advance(12_000);
    // Tells the store that SQS's time went on, as its own clock would.
    await workers[1]?.store.approximateCounts();
    const late = (await workers[1]?.store.completeClaims(fail(tooLate?.claims ?? []))) ?? [];
    expect(late.every(({ outcome }) => outcome === "stale-claim")).toBe(true);
    const { copies, distinct } = await countCopies(outbox);
    worst.copies = Math.max(worst.copies, copies);
    expect(distinct, `round ${round}`).toBe(entries);
    await outbox.sqs.advance(12_000);
  }
  console.log(
    `provider down for ${rounds} rounds: at most ${worst.copies} copies of ${entries} entries`,
  );
  expect(worst.copies).toBeLessThanOrEqual(2 * entries);
  for (const { faults } of workers) faults.always("DeleteMessageBatchCommand", null);

  const delivered = new Set<string>();
  for (let quiet = 0; quiet < 2; ) {
    await outbox.sqs.advance(70_000);
    const claims = await outbox.claim(entries);
    quiet = claims.length === 0 ? quiet + 1 : 0;
    for (const { entry } of claims) delivered.add(entry.entryId);
    await outbox.store.completeClaims(
      claims.map((claim) => ({ claim, kind: "delivered" as const })),
    );
  }
  expect(delivered.size).toBe(entries);
  expect(await countCopies(outbox)).toEqual({ copies: 0, distinct: 0 });
});
