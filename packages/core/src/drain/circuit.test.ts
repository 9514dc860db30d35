import { expect, it } from "vitest";
import { Circuit } from "./circuit.js";

const options = { openAfter: 3, firstProbeMs: 1_000, longestProbeMs: 4_000 };
const middle = () => 0.5;

function opened(): Circuit {
  const circuit = new Circuit(options, middle);
  for (let failure = 0; failure < 3; failure++) circuit.fail(0, false);
  return circuit;
}

it("opens after failures in a row, not after as many with a success between", () => {
  const circuit = new Circuit(options, middle);
  expect([circuit.fail(0, false), circuit.fail(0, false)]).toEqual([false, false]);
  circuit.succeed();
  expect([circuit.fail(0, false), circuit.fail(0, false)]).toEqual([false, false]);
  expect(circuit.isOpen).toBe(false);
  expect(circuit.fail(0, false)).toBe(true);
  expect(circuit.isOpen).toBe(true);
});

it("lets nothing go while open, then one probe", () => {
  const circuit = opened();
  expect(circuit.admit(999)).toEqual({ kind: "closed-off", forMs: 1 });
  expect(circuit.admit(1_000)).toEqual({ kind: "probe" });
  expect(circuit.admit(1_000)).toMatchObject({ kind: "closed-off" });
});

it("closes when the probe succeeds", () => {
  const circuit = opened();
  circuit.admit(1_000);
  expect(circuit.succeed()).toBe(true);
  expect(circuit.admit(1_000)).toEqual({ kind: "go" });
});

it("doubles the wait when the probe fails, up to the longest", () => {
  const circuit = opened();
  let now = 0;
  const waits: number[] = [];
  for (let probe = 0; probe < 5; probe++) {
    const waitMs = circuit.waitMs(now);
    waits.push(waitMs);
    now += waitMs;
    expect(circuit.admit(now)).toEqual({ kind: "probe" });
    expect(circuit.fail(now, true)).toBe(false);
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 4_000, 4_000]);
});

it("is not delayed by emissions that had started before it opened", () => {
  const circuit = opened();
  circuit.fail(900, false);
  expect(circuit.waitMs(900)).toBe(100);
});

it("respects the provider's own wish", () => {
  const circuit = opened();
  circuit.admit(1_000);
  circuit.fail(1_000, true, 60_000);
  expect(circuit.waitMs(1_000)).toBe(60_000);
});

it("allows the next probe when one ended without an answer", () => {
  const circuit = opened();
  circuit.admit(1_000);
  circuit.endProbe();
  expect(circuit.admit(1_000)).toEqual({ kind: "probe" });
});
