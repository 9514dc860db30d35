import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, onTestFinished, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { waits } from "../testing-doubles/recording-emitter.js";
import { failing } from "../testing-doubles/store-fault.js";
import { OutboxWorkerLoop } from "../worker/outbox-worker-loop.js";
import { drainWithTiming } from "./drain.js";
import { EventSink, type OutboxEvent } from "./outbox-event.js";

const allTypes: readonly OutboxEvent["type"][] = [
  "claim",
  "claim-error",
  "emission-start",
  "emission-end",
  "emission-timeout",
  "transition",
  "transition-error",
  "renewal",
  "renewal-error",
  "lease-lost",
  "wake-up",
  "wake-up-connection",
  "expected-duplicates",
  "start",
  "stop",
  "pause",
  "resume",
];

function recordChannels(): OutboxEvent[] {
  const published: OutboxEvent[] = [];
  for (const type of allTypes) {
    const listener = (event: unknown) => published.push(event as OutboxEvent);
    subscribe(`outbox:${type}`, listener);
    onTestFinished(() => {
      unsubscribe(`outbox:${type}`, listener);
    });
  }
  return published;
}

test("everything that happens is told, on channels and to the observer, without a payload", async () => {
  const published = recordChannels();
  const observed: OutboxEvent[] = [];
  const world = new DrainWorld();
  await world.enqueue(6);
  world.emitter.behave = ({ entryId }) => {
    if (entryId === "e2") throw new Error("no");
    return entryId === "e1" ? waits : undefined;
  };
  const { store, emitter, timing } = world;
  const observer = (event: OutboxEvent) => observed.push(event);
  const options = { emitTimeoutMs: 20_000, leaseDurationMs: 9_000, retryDelayMs: 600_000 };
  const worker = new OutboxWorkerLoop({ store, emitter, observer, ...options }, timing);
  worker.start();
  await timing.advance(4_000);
  world.scripted.outage(failing());
  await timing.advance(20_000);
  world.scripted.outage(null);
  await timing.advance(40_000);
  await world.enqueue(1);
  await timing.advance(1_000);
  worker.pause();
  worker.resume();
  world.emitter.calls[0]?.end();
  await timing.during(worker.stop());

  expect(observed).toEqual(published);
  expect([...new Set(observed.map(({ type }) => type))].sort()).toEqual([...allTypes].sort());
  for (const event of observed) expect(event.workerId).toBe(worker.workerId);
  const text = JSON.stringify(observed, (_, value) =>
    value instanceof Error ? { ...value, text: value.stack } : value,
  );
  expect(text).toContain('"entryId":"e1"');
  expect(text).not.toContain("payload of");
});

test("a drain tells of its claims as well", async () => {
  const observed: OutboxEvent[] = [];
  const world = new DrainWorld();
  await world.enqueue(1);
  await world.timing.advance(1_500);
  const { store, emitter, timing } = world;
  const observer = (event: OutboxEvent) => observed.push(event);
  await timing.during(drainWithTiming({ store, emitter, observer }, timing));
  expect(observed.map(({ type }) => type)).toEqual([
    "claim",
    "emission-start",
    "emission-end",
    "claim",
    "transition",
  ]);
  expect(observed[0]).toMatchObject({ count: 1, more: "none", lagMs: 1_500 });
});

test("the margin of a transition is what was left of the lease when it was sent", async () => {
  const margins: unknown[] = [];
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => world.timing.sleep(2_000);
  world.scripted.next("completeClaims", async (call) => {
    await world.timing.sleep(3_000);
    return call();
  });
  const { store, emitter, timing } = world;
  const observer = (event: OutboxEvent) => {
    if (event.type === "transition") margins.push(event.marginMs);
  };
  await timing.during(drainWithTiming({ store, emitter, observer }, timing));
  expect(margins).toEqual([58_000]);
});

test("an observer that throws or rejects, and a logger that does, change nothing", async () => {
  const broken = () => {
    throw new Error("broken");
  };
  for (const observer of [broken, async () => broken()]) {
    const world = new DrainWorld();
    await world.enqueue(20);
    world.scripted.next("claim", failing());
    world.scripted.next("completeClaims", failing());
    const { store, emitter, timing } = world;
    const logger = { debug: observer, info: observer, warn: observer, error: observer };
    const worker = new OutboxWorkerLoop({ store, emitter, observer, logger }, timing);
    worker.start();
    await timing.advance(2_000);
    expect(world.count("delivered")).toBe(20);
    expect(world.emitter.calls).toHaveLength(20);
    await timing.during(worker.stop());
  }
});

test("without a listener no event is built", () => {
  const sink = new EventSink("me", undefined);
  expect(sink.isHeard("transition")).toBe(false);
  const published = recordChannels();
  expect(sink.isHeard("transition")).toBe(true);
  sink.emit({ type: "start" });
  expect(published).toEqual([{ type: "start", workerId: "me" }]);
});
