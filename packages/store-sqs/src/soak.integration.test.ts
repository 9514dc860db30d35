import { createWorker } from "@outbox/core";
import { expect, test, vi } from "vitest";
import { readSnapshot } from "./snapshot/read-snapshot.js";
import { EmissionLedger } from "./testing/emission-ledger.js";
import {
  applyThenTimeOut,
  type CallInput,
  type Fault,
  type Faults,
  sqsError,
} from "./testing/faults.js";
import { type OpenOutbox, openOutbox } from "./testing/open-outbox.js";
import { temporaryServer } from "./testing/temporary-server.js";

const server = temporaryServer();

/** Set it to 100 000 for the long run. */
const entries = Number(process.env["OUTBOX_TEST_SQS_ENTRIES"] ?? 2_000);
const leaseDurationMs = 6_000;
const workers = 4;

const chance = (share: number) => Math.random() < share;

const idOf = (body: string | undefined): string => {
  const read = readSnapshot(body ?? "");
  return read.kind === "snapshot" ? read.snapshot.entry.envelope.envelopeId : "no entry";
};

/** A send whose reply is lost now and then: the store sends again, and there are two copies. */
const flakySend =
  (ledger: EmissionLedger): Fault =>
  async (input, proceed) => {
    if (chance(0.01)) {
      for (const { MessageBody } of input.Entries ?? []) {
        ledger.copied(idOf(MessageBody), "the reply to its send was lost");
      }
      return applyThenTimeOut(input, proceed);
    }
    if (chance(0.01)) throw sqsError("RequestThrottled");
    return proceed();
  };

/** Deletes that fail for now, whose reply is lost, or that SQS forgets. */
const flakyDelete =
  (ledger: EmissionLedger, held: ReadonlyMap<string, string>): Fault =>
  async (input, proceed) => {
    if (chance(0.01)) return applyThenTimeOut(input, proceed);
    const { Entries = [] } = input;
    const forgotten = Entries.filter(() => chance(0.002));
    const failing = Entries.filter((member) => !forgotten.includes(member) && chance(0.01));
    for (const { ReceiptHandle = "" } of forgotten) {
      ledger.copied(held.get(ReceiptHandle) ?? "", "SQS forgot its delete");
    }
    const rest: CallInput = {
      ...input,
      Entries: Entries.filter((member) => !forgotten.includes(member) && !failing.includes(member)),
    };
    const output = rest.Entries?.length === 0 ? {} : await proceed(rest);
    return {
      Successful: [...(output.Successful ?? []), ...forgotten.map(({ Id }) => ({ Id }))],
      Failed: failing.map(({ Id }) => ({
        Id,
        Code: "InternalError",
        Message: "try again",
        SenderFault: false,
      })),
    };
  };

/** Replies of receives that are lost: the messages come back after their lease. */
const flakyReceive =
  (held: Map<string, string>): Fault =>
  async (input, proceed) => {
    if (chance(0.002)) return applyThenTimeOut(input, proceed);
    const output = await proceed();
    for (const { ReceiptHandle, Body } of output.Messages ?? []) {
      held.set(ReceiptHandle, idOf(Body));
    }
    return output;
  };

function makeFlaky(faults: Faults, ledger: EmissionLedger): void {
  const held = new Map<string, string>();
  faults.always("SendMessageBatchCommand", flakySend(ledger));
  faults.always("DeleteMessageBatchCommand", flakyDelete(ledger, held));
  faults.always("ReceiveMessageCommand", flakyReceive(held));
}

async function enqueueAll({ openStore }: OpenOutbox, ledger: EmissionLedger): Promise<void> {
  const { store, faults } = openStore();
  faults.always("SendMessageBatchCommand", flakySend(ledger));
  for (let from = 0; from < entries; from += 1_000) {
    const count = Math.min(1_000, entries - from);
    await store.enqueue(
      Array.from({ length: count }, (_, index) => ({
        type: "order.placed",
        envelopeId: `envelope-${from + index}`,
        payload: { number: from + index },
      })),
    );
  }
}

test(`${entries} entries through faults of every kind: none lost, every surplus emission explained`, {
  timeout: 60_000 + entries * 30,
}, async () => {
  await using outbox = await openOutbox(server(), { longPollMs: 1_000 });
  const ledger = new EmissionLedger();
  await enqueueAll(outbox, ledger);

  const startWorker = () => {
    const { store, faults } = outbox.openStore();
    makeFlaky(faults, ledger);
    const worker = createWorker({
      store,
      leaseDurationMs,
      emitConcurrency: 50,
      retryDelayMs: 1_000,
      maxRetryDelayMs: 0,
      observer: (event) => ledger.observe(event),
      emitter: async ({ envelopeId }) => {
        if (chance(0.01)) throw new Error("provider unavailable");
        ledger.emitted(envelopeId);
      },
    });
    worker.start();
    return { worker, faults };
  };
  const running = Array.from({ length: workers }, startWorker);

  // One worker is cut off for good in the middle of its work, as if it were killed.
  await vi.waitUntil(() => ledger.distinct > entries / 4, { timeout: 60_000 + entries * 10 });
  const [cutOff] = running;
  const gone = async () => Promise.reject(sqsError("ECONNREFUSED"));
  for (const command of [
    "SendMessageBatchCommand",
    "ReceiveMessageCommand",
    "DeleteMessageBatchCommand",
    "ChangeMessageVisibilityBatchCommand",
  ] as const) {
    cutOff?.faults.always(command, gone);
  }

  const isEmpty = async () => {
    const { pending } = await outbox.store.approximateCounts();
    return pending.visible + pending.inFlight + pending.delayed === 0;
  };
  await vi.waitUntil(isEmpty, { timeout: 60_000 + entries * 20, interval: 500 });
  for (const { worker } of running) await worker.stop({ timeoutMs: 100 });

  const { count, unexplained, byCause } = ledger.surplus();
  console.log(
    `${entries} entries: ${ledger.distinct} emitted, ${count} surplus emissions`,
    byCause,
  );
  expect(ledger.distinct).toBe(entries);
  expect(unexplained).toEqual([]);
  expect(await outbox.deadLetter()).toEqual([]);
});
