import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { Reaction } from "./receiver-faults.js";
import type { ReceiverLedger } from "./receiver-ledger.js";

export interface ReceiverOptions {
  readonly ledger: ReceiverLedger;
  /** What to do with the nth request of an idempotency key. */
  readonly chooseReaction: (orderId: string, attempt: number) => Reaction;
  /** How long its work takes, in ms. */
  readonly workMs: number;
}

/** Somebody else's HTTP service, with bad days. It takes CloudEvents and knows nothing of an outbox. */
export function createReceiver(options: ReceiverOptions): Server {
  const attempts = new Map<string, number>();

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { subject: orderId } = (await json(request)) as { subject: string };
    const idempotencyKey = String(request.headers["idempotency-key"]);
    const workerId = String(request.headers["x-worker-id"]);
    const attempt = (attempts.get(idempotencyKey) ?? 0) + 1;
    attempts.set(idempotencyKey, attempt);

    const reaction = options.chooseReaction(orderId, attempt);
    await delay(options.workMs);
    const outcome = await options.ledger.record({ idempotencyKey, orderId, workerId, reaction });
    if (reaction === "silence") return;
    response.writeHead(reaction === "refuse" ? 503 : 202).end(outcome);
  }

  return createServer((request, response) => {
    receive(request, response).catch((error: unknown) => {
      // A worker that was killed in the middle of its request is no reason to stop.
      if (!request.complete) return;
      console.error(error);
      response.writeHead(500).end();
    });
  });
}
