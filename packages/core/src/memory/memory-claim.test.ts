import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutboxClaim } from "../contract/outbox-claim.js";
import { createMemoryStore } from "./create-memory-store.js";
import { MemoryOutbox } from "./memory-outbox.js";

function storeAt(startMs: number) {
  const clock = { ms: startMs };
  const outbox = new MemoryOutbox(() => clock.ms);
  return { clock, outbox, store: createMemoryStore({ outbox }) };
}

const idsOf = (claims: readonly OutboxClaim[]) => claims.map(({ entry }) => entry.entryId);

const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant("enqueue" as const),
      bytes: fc.integer({ min: 0, max: 20 }),
      delayMs: fc.constantFrom(0, 0, 50),
    }),
    fc.record({
      do: fc.constant("claim" as const),
      maxCount: fc.integer({ min: 1, max: 4 }),
      maxBytes: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
      leaseDurationMs: fc.constantFrom(10, 100),
    }),
    fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 120 }) }),
    fc.record({
      do: fc.constant("finish" as const),
      pick: fc.nat(),
      as: fc.constantFrom("delivered" as const, "release" as const, "retry" as const),
    }),
  ),
  { maxLength: 40, size: "max" },
);

interface Modelled {
  readonly id: string;
  readonly bytes: number;
  dueMs: number;
  readonly sequence: number;
  token: string | null;
}

describe("claims on memory", () => {
  it("are bounded, ordered, exclusive and fenced in any sequence of steps", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (run) => {
        const { clock, store } = storeAt(1_000);
        const open = new Map<string, Modelled>();
        const held: OutboxClaim[] = [];
        let sequence = 0;
        for (const step of run) {
          switch (step.do) {
            case "pass":
              clock.ms += step.ms;
              break;
            case "enqueue": {
              const payload = new Uint8Array(step.bytes);
              const { entryId: id } = await store.enqueue({
                type: "a",
                payload,
                availableInMs: step.delayMs,
              });
              const dueMs = clock.ms + step.delayMs;
              open.set(id, { id, bytes: step.bytes, dueMs, sequence: ++sequence, token: null });
              break;
            }
            case "claim": {
              const due = [...open.values()]
                .filter(({ dueMs }) => dueMs <= clock.ms)
                .sort((a, b) => a.dueMs - b.dueMs || a.sequence - b.sequence);
              const expected: string[] = [];
              let bytes = 0;
              for (const one of due) {
                bytes += one.bytes;
                const isOver = step.maxBytes !== undefined && bytes > step.maxBytes;
                if (expected.length === step.maxCount || (isOver && expected.length > 0)) break;
                expected.push(one.id);
              }
              const { do: _, ...request } = step;
              const { claims, more } = await store.claim({ workerId: "w", ...request });
              expect(idsOf(claims)).toEqual(expected);
              expect(more).toBe(expected.length < due.length ? "likely" : "none");
              for (const { entry, claimToken } of claims) {
                const one = open.get(entry.entryId);
                if (one === undefined) throw new Error("a terminal entry was claimed");
                expect(claimToken).not.toBe(one.token);
                one.token = claimToken;
                one.dueMs = clock.ms + step.leaseDurationMs;
              }
              held.push(...claims);
              break;
            }
            case "finish": {
              const [claim] = held.splice(step.pick % Math.max(1, held.length), 1);
              if (claim === undefined) break;
              const one = open.get(claim.entry.entryId);
              const { outcome, entry } =
                step.as === "delivered"
                  ? await store.markClaimDelivered(claim)
                  : step.as === "release"
                    ? await store.releaseClaim(claim, { delayMs: 0 })
                    : await store.markClaimFailed(
                        claim,
                        { code: "x", message: "y", isRetryable: true },
                        { retryInMs: 30 },
                      );
              const isMine = one?.token === claim.claimToken;
              const isTerminal = one === undefined;
              expect(outcome).toBe(isMine ? "applied" : isTerminal ? "terminal" : "stale-claim");
              if (!isMine || one === undefined) break;
              expect(entry?.claimToken).toBeNull();
              one.token = null;
              one.dueMs = clock.ms + (step.as === "retry" ? 30 : 0);
              if (step.as === "delivered") open.delete(one.id);
              break;
            }
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("a claim that is repeated with its id", () => {
  it("finds its live leases and keeps both bounds", async () => {
    const { store } = storeAt(1_000);
    const input = { type: "a", payload: new Uint8Array(10) };
    const ids = (await store.enqueue([input, input, input, input])).map((one) => one.entryId);
    const request = { workerId: "w", claimId: "c-1" };
    await store.claim({ ...request, maxCount: 2 });
    const repeated = async (bounds: object) =>
      idsOf((await store.claim({ ...request, ...bounds })).claims);
    expect(await repeated({ maxCount: 1 })).toEqual(ids.slice(0, 1));
    expect(await repeated({ maxCount: 2 })).toEqual(ids.slice(0, 2));
    expect(await repeated({ maxBytes: 25 })).toEqual(ids.slice(0, 2));
    expect(await repeated({ maxBytes: 30 })).toEqual(ids.slice(0, 3));
    expect(await repeated({})).toEqual(ids);
  });
});

describe("suspectsDue", () => {
  it("speaks of suspects that this request could take", async () => {
    const { store, clock } = storeAt(1_000);
    await store.enqueue([{ type: "a" }, { type: "b" }]);
    await store.claim({ workerId: "crashed", types: ["a"], leaseDurationMs: 10 });
    clock.ms += 11;
    const others = { workerId: "w", suspects: "exclude", leaseDurationMs: 10 } as const;
    expect((await store.claim({ ...others, types: ["b"] })).suspectsDue).toBe(false);
    expect((await store.claim({ ...others, types: ["a"] })).suspectsDue).toBe(true);
    expect((await store.claim(others)).suspectsDue).toBe(true);
    expect((await store.claim({ workerId: "w" })).suspectsDue).toBe(false);
  });
});
