import { createWorker, NonRetryableEmissionError } from "@outbox/core";
import { createSqsStore, queueDefinitions } from "@outbox/store-sqs";
import type { TemporarySqs } from "@outbox/temporary-sqs";
import { type PatternReport, unmet } from "./pattern-report.js";

const mails = 200;

/** No database: mails are enqueued in SQS, and a worker sends them through a flaky provider. */
export async function sqsAsTheOutbox(sqs: TemporarySqs): Promise<PatternReport> {
  const { pending, deadLetter } = queueDefinitions({ name: "mail-outbox" });
  const store = createSqsStore({
    queues: {
      pending: await sqs.createQueue(pending.QueueName, pending.Attributes),
      deadLetter: await sqs.createQueue(deadLetter.QueueName, deadLetter.Attributes),
    },
    clientConfig: sqs.clientConfig,
  });

  await store.enqueue(
    Array.from({ length: mails }, (_, n) => ({
      type: "mail.requested",
      envelopeId: `mail-${n}`,
      payload: { to: n === 13 ? "nobody" : `customer-${n}@example.com` },
    })),
  );

  const sent = new Set<string>();
  let emissions = 0;
  const worker = createWorker({
    store,
    retryDelayMs: 1_000,
    maxRetryDelayMs: 1_000,
    // Where the counters are upper bounds, time decides when to give up.
    retryForMs: 60 * 60_000,
    emitter: async ({ payload }, { idempotencyKey, attempt }) => {
      emissions += 1;
      const { to } = payload as { readonly to: string };
      if (to === "nobody") throw new NonRetryableEmissionError("there is no such address");
      if (attempt === 1 && emissions % 10 === 0) throw new Error("the provider is unavailable");
      sent.add(idempotencyKey);
    },
  });
  worker.start();
  const deadline = performance.now() + 60_000;
  while (sent.size < mails - 1 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await worker.stop();

  // The operator has found the right address, or at least believes so.
  const parked = (await store.approximateCounts()).deadLetter.visible;
  const redriven = await store.redriveDeadLetters({ by: "operator", reason: "address corrected" });
  await store.close();
  return {
    title: "SQS as the outbox, where there is no database",
    lines: [
      `${mails} mails enqueued, ${sent.size} sent in ${emissions} emissions`,
      `${parked} parked because it can never be sent, ${redriven.count} redriven`,
    ],
    failures: unmet({
      "every mail with an address was sent": sent.size === mails - 1,
      "the one without was parked": parked === 1,
      "a redrive found it": redriven.count === 1,
    }),
  };
}
