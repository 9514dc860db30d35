import { expect, test } from "vitest";
import { ServerClock } from "./server-clock.js";

function clockAt() {
  let nowMs = 0;
  const clock = new ServerClock(() => nowMs);
  const header = (ms: number) => new Date(ms).toUTCString();
  return {
    clock,
    pass: (ms: number) => {
      nowMs += ms;
    },
    reply: (serverMs: number, roundTripMs = 10) => {
      clock.note(header(serverMs), nowMs - roundTripMs, nowMs);
    },
  };
}

const start = Date.parse("2026-01-01T00:00:00.000Z");

test("tells SQS's time within the second of the Date header, never ahead of it", () => {
  const { clock, pass, reply } = clockAt();
  expect(clock.isSet).toBe(false);
  pass(1_000);
  reply(start + 700);
  expect(clock.nowMs()).toBeLessThanOrEqual(start + 700);
  expect(clock.nowMs()).toBeGreaterThan(start + 700 - 1_010);
});

test("goes on by the monotonic clock, and is narrowed down by further replies", () => {
  const { clock, pass, reply } = clockAt();
  reply(start + 700);
  pass(305);
  reply(start + 1_005);
  pass(100);
  expect(clock.nowMs()).toBeGreaterThan(start + 1_105 - 20);
  expect(clock.nowMs()).toBeLessThanOrEqual(start + 1_105);
});

test("follows a clock that is behind its own reckoning without going back", () => {
  const { clock, pass, reply } = clockAt();
  reply(start + 900);
  const before = clock.nowMs();
  pass(60_000);
  // SQS's clock ran slower: only 50 s passed there.
  reply(start + 50_900);
  const after = clock.nowMs();
  expect(after).toBeGreaterThanOrEqual(before);
  expect(after).toBeLessThanOrEqual(start + 52_000);
});

test("an instant of SQS's own, finer than a second, moves it forward by less than one", () => {
  const { clock, reply } = clockAt();
  reply(start + 999);
  clock.notePast(start + 995, 0);
  expect(clock.nowMs()).toBe(start + 995);
  clock.notePast(start + 60_000, 0);
  expect(clock.nowMs()).toBeLessThanOrEqual(start + 2_000);
});

test("a reply that was held up on its way is known to be old", () => {
  const { clock, pass, reply } = clockAt();
  reply(start);
  pass(20_000);
  const latest = clock.latestSendMs(new Date(start + 5_000).toUTCString());
  expect(latest).toBeLessThanOrEqual(6_000);
  expect(clock.latestSendMs(undefined)).toBe(Number.POSITIVE_INFINITY);
});

test("an unreadable header changes nothing", () => {
  const { clock } = clockAt();
  clock.note(undefined, 0, 1);
  clock.note("yesterday", 0, 1);
  expect(clock.isSet).toBe(false);
  expect(() => clock.nowMs()).toThrow("no reply has told SQS's time yet");
});
