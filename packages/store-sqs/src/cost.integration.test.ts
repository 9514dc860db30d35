import { drain } from "@outbox/core";
import { expect, test } from "vitest";
import { openOutbox } from "./testing/open-outbox.js";
import { temporaryServer } from "./testing/temporary-server.js";

const server = temporaryServer();

const entries = 1_000;

test.each([
  ["a standard queue", 310, {}, () => ({})],
  ["a FIFO queue, entries without keys", 310, { fifo: true }, () => ({})],
  // One entry of a key at a time: fewer of them are deleted together.
  [
    "a FIFO queue, 100 keys",
    400,
    { fifo: true },
    (n: number) => ({ orderingKey: `key-${n % 100}` }),
  ],
] as const)(
  "1 000 entries on %s cost at most %i calls, enqueue included",
  async (what, callsAllowed, options, more) => {
    await using outbox = await openOutbox(server(), { ...options, longPollMs: 20_000 });
    await outbox.store.enqueue(
      Array.from({ length: entries }, (_, n) => ({
        type: "order.placed",
        payload: { n },
        ...more(n),
      })),
    );
    const emitted = new Set<string>();
    const report = await drain({
      store: outbox.store,
      emitter: async ({ envelopeId }) => {
        emitted.add(envelopeId);
      },
    });
    expect(report.delivered).toBe(entries);
    expect(emitted.size).toBe(entries);
    const commands = outbox.faults.calls.map(({ command }) => command);
    const counts = Object.fromEntries(
      [...new Set(commands)].map((name) => [name, outbox.faults.count(name)]),
    );
    console.log(`${what}: ${commands.length} calls for ${entries} entries`, counts);
    expect(commands.length).toBeLessThanOrEqual(callsAllowed);
  },
);

test("an idle worker asks once in twenty seconds at most, and a full queue ten times as much at once", async () => {
  await using outbox = await openOutbox(server(), { longPollMs: 20_000 });
  await outbox.store.enqueue(Array.from({ length: 100 }, () => ({ type: "order.placed" })));
  outbox.faults.forgetCalls();
  expect(await outbox.claim(100)).toHaveLength(100);
  expect(outbox.faults.count("ReceiveMessageCommand")).toBe(10);
  outbox.faults.forgetCalls();
  outbox.faults.always("ReceiveMessageCommand", async () => ({}));
  for (let poll = 0; poll < 3; poll++) expect(await outbox.claim(100)).toEqual([]);
  const waits = outbox.faults
    .inputs("ReceiveMessageCommand")
    .map(({ WaitTimeSeconds }) => WaitTimeSeconds);
  expect(waits).toEqual([1, 15, 15]);
});
