import { DeleteMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { drain } from "@outbox/core";
import { createPostgresStore, withTransaction } from "@outbox/store-postgres";
import type { TemporarySqs } from "@outbox/temporary-sqs";
import { Pool } from "pg";
import { emitToQueue } from "./emit-to-queue.js";
import { type PatternReport, unmet } from "./pattern-report.js";

const orders = 60;

class PaymentRefused extends Error {}

/** Orders are placed, some are rolled back, and the outbox is drained into a queue. */
export async function databaseDrainedIntoSqs(
  databaseUrl: string,
  sqs: TemporarySqs,
): Promise<PatternReport> {
  const pool = new Pool({ connectionString: databaseUrl });
  const store = createPostgresStore({ pool });
  try {
    await store.migrate();
    await pool.query("create table orders (id text primary key)");
    const queueUrl = await sqs.createQueue("orders.fifo");

    let rolledBack = 0;
    for (let n = 1; n <= orders; n++) {
      const id = `order-${n}`;
      await withTransaction(pool, async (tx) => {
        await tx.query("insert into orders values ($1)", [id]);
        await store.enqueue(
          { type: "order.placed", subject: id, envelopeId: id, payload: { id } },
          { tx },
        );
        if (n % 6 === 0) throw new PaymentRefused();
      }).catch((error: unknown) => {
        if (!(error instanceof PaymentRefused)) throw error;
        rolledBack += 1;
      });
    }
    const { delivered } = await drain({ store, emitter: emitToQueue(sqs.client, queueUrl) });

    const committed = (await pool.query("select id from orders")).rows.map(
      ({ id }) => id as string,
    );
    const received = await receiveAll(sqs, queueUrl);
    return {
      title: "A database outbox drained into SQS",
      lines: [
        `${committed.length} orders committed, ${rolledBack} rolled back`,
        `${delivered} messages drained, ${received.length} received from the queue`,
      ],
      failures: unmet({
        "every committed order reached the queue": committed.every((id) => received.includes(id)),
        "no order that was rolled back did": received.every((id) => committed.includes(id)),
      }),
    };
  } finally {
    await store.close();
    await pool.end();
  }
}

/** A consumer, as simple as they come. */
async function receiveAll({ client }: TemporarySqs, QueueUrl: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    if (Messages.length === 0) return ids;
    for (const { Body = "", ReceiptHandle } of Messages) {
      ids.push((JSON.parse(Body) as { readonly id: string }).id);
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
}
