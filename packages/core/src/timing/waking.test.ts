import { describe, expect, it } from "vitest";
import { Doorbell } from "./doorbell.js";
import { systemTiming } from "./timing.js";
import { WakeableSleep } from "./wakeable-sleep.js";

async function isOver(wait: Promise<void>): Promise<boolean> {
  const soon = new Promise<false>((resolve) => setTimeout(resolve, 20, false));
  return Promise.race([wait.then(() => true), soon]);
}

describe.each([
  ["a doorbell", () => new Doorbell(), (bell: Doorbell) => bell.wait()],
  [
    "a wakeable sleep",
    () => new WakeableSleep(systemTiming),
    (bell: WakeableSleep) => bell.sleep(60_000),
  ],
] as const)("%s", (_, create, waitOn) => {
  const wait = waitOn as (bell: Doorbell | WakeableSleep) => Promise<void>;

  it("ends at the next ring, and at no other", async () => {
    const bell = create();
    const first = wait(bell);
    expect(await isOver(first)).toBe(false);
    bell.ring();
    expect(await isOver(first)).toBe(true);
    const second = wait(bell);
    expect(await isOver(second)).toBe(false);
    bell.ring();
    expect(await isOver(second)).toBe(true);
  });

  it("keeps one ring that nobody waited for", async () => {
    const bell = create();
    bell.ring();
    bell.ring();
    expect(await isOver(wait(bell))).toBe(true);
    const next = wait(bell);
    expect(await isOver(next)).toBe(false);
    bell.ring();
    await next;
  });
});
