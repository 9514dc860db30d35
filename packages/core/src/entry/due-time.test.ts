import { describe, expect, it } from "vitest";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import { dueTime, unclaimedDueTime } from "./due-time.js";
import { testEntry } from "./test-entry.js";

const [before, created, after] = [new Date(1_000), new Date(2_000), new Date(3_000)];
const unclaimed = { claimOwner: null, claimToken: null, claimedAt: null, claimExpiresAt: null };

describe("the due time", () => {
  it.each<[string, Partial<OutboxEntry>, Date | null]>([
    ["pending: when it was created", { status: "pending", availableAt: null }, created],
    ["pending: not before it was created", { status: "pending", availableAt: before }, created],
    ["pending: when it was asked for", { status: "pending", availableAt: after }, after],
    ["deferred: the time given", { status: "deferred", nextRetryAt: before }, before],
    ["deferred: else its last change", { status: "deferred", nextRetryAt: null }, after],
    ["a failure: the time given", { status: "retryable-failure", nextRetryAt: after }, after],
    ["a failure: else its last change", { status: "retryable-failure", nextRetryAt: null }, after],
    ["parked: never", { status: "failed" }, null],
    ["delivered: never", { status: "delivered" }, null],
    ["dead-lettered: never", { status: "dead-lettered" }, null],
  ])("%s", (_, changes, due) => {
    const entry = testEntry({ createdAt: created, updatedAt: after, ...unclaimed, ...changes });
    expect(dueTime(entry)).toEqual(due);
    expect(unclaimedDueTime(entry)).toEqual(due);
  });

  it("is the lease's end while leased, and what it was before once released", () => {
    const entry = testEntry({ nextRetryAt: created, claimExpiresAt: after });
    expect(dueTime(entry)).toEqual(after);
    expect(unclaimedDueTime(entry)).toEqual(created);
  });
});
