import { expect, it } from "vitest";
import { EmissionGate } from "./emission-gate.js";

const never = new AbortController().signal;

function deferred() {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

it("lets ordinary emissions in together", () => {
  const gate = new EmissionGate();
  expect([gate.tryEnter(), gate.tryEnter()]).toEqual([true, true]);
});

it("runs alone after everyone has left, and keeps newcomers out meanwhile", async () => {
  const gate = new EmissionGate();
  gate.tryEnter();
  const inside = deferred();
  const log: string[] = [];
  const alone = gate.runAlone(async () => {
    log.push("alone");
    await inside.promise;
  }, never);
  await Promise.resolve();
  expect(log).toEqual([]);
  expect(gate.tryEnter()).toBe(false);
  gate.leave();
  await Promise.resolve();
  await Promise.resolve();
  expect(log).toEqual(["alone"]);
  expect(gate.tryEnter()).toBe(false);
  inside.resolve();
  await alone;
  expect(gate.tryEnter()).toBe(true);
});

it("tells when ordinary emissions may go on", async () => {
  const gate = new EmissionGate();
  let opened = 0;
  const end = gate.onOpen(() => {
    opened += 1;
  });
  await gate.runAlone(async () => {}, never);
  expect(opened).toBe(1);
  end();
  await gate.runAlone(async () => {}, never);
  expect(opened).toBe(1);
});

it("admits one at a time, in order", async () => {
  const gate = new EmissionGate();
  const log: string[] = [];
  const step = (name: string) => async () => {
    log.push(`${name} in`);
    await new Promise((resolve) => setImmediate(resolve));
    log.push(`${name} out`);
  };
  await Promise.all([gate.runAlone(step("a"), never), gate.runAlone(step("b"), never)]);
  expect(log).toEqual(["a in", "a out", "b in", "b out"]);
});

it("gives up waiting when aborted, without taking the gate from who has it", async () => {
  const gate = new EmissionGate();
  const inside = deferred();
  const first = gate.runAlone(() => inside.promise, never);
  const controller = new AbortController();
  let ran = false;
  const second = gate.runAlone(async () => {
    ran = true;
  }, controller.signal);
  controller.abort();
  await second;
  expect(ran).toBe(false);
  expect(gate.tryEnter()).toBe(false);
  inside.resolve();
  await first;
  expect(gate.tryEnter()).toBe(true);
});

it("opens again when the action throws", async () => {
  const gate = new EmissionGate();
  await expect(
    gate.runAlone(async () => {
      throw new Error("x");
    }, never),
  ).rejects.toThrow("x");
  expect(gate.tryEnter()).toBe(true);
});
