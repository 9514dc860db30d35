import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request, as the receiver saw it. */
export interface ReceivedEmission {
  readonly idempotencyKey: string;
  readonly entryId: string;
  readonly workerId: string;
  /** The claim under which it was sent. */
  readonly claimToken: string;
  /** The how many-th with this key; 1 is the first. */
  readonly occurrence: number;
  /** By the receiver's wall clock. */
  readonly at: Date;
}

/** An HTTP status; or `silence`, which keeps the connection and never answers. */
export type ReceiverAnswer = number | "silence";

/** Somebody else's service, which writes down all that reaches it. */
export interface EmissionReceiver {
  readonly url: string;
  /** In the order in which they came. */
  readonly received: readonly ReceivedEmission[];
  /** How often each idempotency key came. */
  readonly occurrences: ReadonlyMap<string, number>;
  /** The keys that came more than once. */
  readonly duplicates: readonly string[];
  close(): Promise<void>;
}

/**
 * Starts a receiver in this process.
 *
 * @param answer - how to answer; without it every request is accepted at once
 */
export async function startEmissionReceiver(
  answer: (emission: ReceivedEmission) => ReceiverAnswer | Promise<ReceiverAnswer> = () => 202,
): Promise<EmissionReceiver> {
  const received: ReceivedEmission[] = [];
  const occurrences = new Map<string, number>();

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    const header = (name: string) => String(request.headers[name] ?? "");
    const idempotencyKey = header("idempotency-key");
    const occurrence = (occurrences.get(idempotencyKey) ?? 0) + 1;
    occurrences.set(idempotencyKey, occurrence);
    const emission: ReceivedEmission = {
      idempotencyKey,
      entryId: header("x-entry-id"),
      workerId: header("x-worker-id"),
      claimToken: header("x-claim-token"),
      occurrence,
      at: new Date(),
    };
    received.push(emission);
    const status = await answer(emission);
    if (status !== "silence") response.writeHead(status).end();
  }

  const server = createServer((request, response) => {
    receive(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  // Between two probes a worker may keep its connection for long.
  server.keepAliveTimeout = 60_000;
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    occurrences,
    get duplicates() {
      return [...occurrences].filter(([, count]) => count > 1).map(([key]) => key);
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
