import { describe, expect, it } from "vitest";
import { drawUpLedger, type Facts, type KillFacts } from "./ledger.js";
import type { ReceivedRequest } from "./receiver-ledger.js";

const kill: KillFacts = {
  workerId: "worker-2",
  heldCount: 2,
  reclaimDelaysMs: [4_100, 5_200],
  leaseDurationMs: 5_000,
  limitMs: 7_000,
};

const request = (orderId: string, changes: Partial<ReceivedRequest> = {}): ReceivedRequest => ({
  idempotencyKey: `key of ${orderId}`,
  orderId,
  workerId: "worker-1",
  outcome: "processed",
  answered: true,
  ...changes,
});

const facts = (changes: Partial<Facts> = {}): Facts => ({
  committedOrderIds: ["a", "b"],
  rolledBackOrderIds: ["c"],
  entries: [
    { envelopeId: "key of a", retryCount: 0 },
    { envelopeId: "key of b", retryCount: 0 },
  ],
  requests: [request("a"), request("b")],
  workerFaults: [],
  kill,
  ...changes,
});

describe("drawUpLedger", () => {
  it("passes when all that was committed arrived, and nothing else", () => {
    expect(drawUpLedger(facts())).toMatchObject({
      committed: 2,
      rolledBack: 1,
      delivered: 2,
      lostOrderIds: [],
      phantomOrderIds: [],
      failures: [],
    });
  });

  it("fails when a committed order did not arrive", () => {
    const ledger = drawUpLedger(facts({ requests: [request("a")] }));
    expect(ledger).toMatchObject({ delivered: 1, lostOrderIds: ["b"] });
    expect(ledger.failures).toEqual(["1 committed orders were not delivered: b"]);
  });

  it("does not take a refused request for a delivery", () => {
    const requests = [request("a"), request("b", { outcome: "refused" })];
    expect(drawUpLedger(facts({ requests })).lostOrderIds).toEqual(["b"]);
  });

  it("fails when an order arrived that was rolled back, or that nobody knows", () => {
    const requests = [request("a"), request("b"), request("c"), request("x")];
    const ledger = drawUpLedger(facts({ requests }));
    expect(ledger.phantomOrderIds).toEqual(["c", "x"]);
    expect(ledger.failures).toEqual(["2 orders were delivered without being committed: c, x"]);
  });

  it("fails when nothing was committed", () => {
    const ledger = drawUpLedger(facts({ committedOrderIds: [], requests: [] }));
    expect(ledger.failures).toContain("no order was committed");
  });

  it("counts retried entries and failed emissions", () => {
    const entries = [
      { envelopeId: "key of a", retryCount: 3 },
      { envelopeId: "key of b", retryCount: 0 },
    ];
    expect(drawUpLedger(facts({ entries }))).toMatchObject({
      retriedEntries: 1,
      failedEmissions: 3,
    });
  });
});

describe("duplicates", () => {
  const duplicatesAfter = (first: Partial<ReceivedRequest>, changes: Partial<Facts> = {}) =>
    drawUpLedger(
      facts({
        requests: [
          request("a", first),
          request("b"),
          request("a", { workerId: "worker-3", outcome: "duplicate" }),
        ],
        ...changes,
      }),
    );

  it("are explained by an answer that never came", () => {
    const { duplicates, failures } = duplicatesAfter({ answered: false });
    expect(duplicates).toEqual({ timeout: 1, kill: 0, "lease-lost": 0, unexplained: 0 });
    expect(failures).toEqual([]);
  });

  it("are explained by the kill of the worker that was answered", () => {
    expect(duplicatesAfter({ workerId: "worker-2" }).duplicates.kill).toBe(1);
  });

  it.each(["timeout", "lease-lost"] as const)("are explained by a %s that a worker saw", (type) => {
    const workerFaults = [{ type, envelopeId: "key of a" }];
    expect(duplicatesAfter({}, { workerFaults }).duplicates[type]).toBe(1);
  });

  it("fail the demo when nothing explains them", () => {
    const { duplicates, failures } = duplicatesAfter(
      {},
      { workerFaults: [{ type: "timeout", envelopeId: "key of b" }] },
    );
    expect(duplicates.unexplained).toBe(1);
    expect(failures).toEqual(["1 duplicates have no explanation"]);
  });

  it("are judged one by one: a second needs a reason of its own", () => {
    const requests = [
      request("a", { answered: false }),
      request("a", { outcome: "duplicate" }),
      request("a", { outcome: "duplicate" }),
      request("b"),
    ];
    expect(drawUpLedger(facts({ requests })).duplicates).toMatchObject({
      timeout: 1,
      unexplained: 1,
    });
  });

  it("are not refused requests before or between", () => {
    const requests = [
      request("a", { outcome: "refused" }),
      request("a"),
      request("a", { outcome: "refused" }),
      request("b"),
    ];
    const { duplicates } = drawUpLedger(facts({ requests }));
    expect(Object.values(duplicates)).toEqual([0, 0, 0, 0]);
  });
});

describe("the kill", () => {
  it.each<[string, KillFacts | null, string]>([
    ["did not happen", null, "held no claims"],
    ["hit a worker that held nothing", { ...kill, heldCount: 0, reclaimDelaysMs: [] }, "held no"],
    ["left claims that nobody claimed again", { ...kill, reclaimDelaysMs: [4_100] }, "only 1 of"],
    [
      "was recovered from too late",
      { ...kill, reclaimDelaysMs: [4_100, 7_001] },
      "not all claimed again within 7000 ms",
    ],
  ])("fails the demo if it %s", (_, changed, failure) => {
    expect(drawUpLedger(facts({ kill: changed })).failures).toEqual([
      expect.stringContaining(failure),
    ]);
  });
});
