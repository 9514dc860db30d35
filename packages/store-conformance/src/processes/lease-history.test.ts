import { expect, test } from "vitest";
import { assertLeasesNeverOverlap } from "./lease-history.js";
import type { LeaseRecord } from "./start-claim-loop.js";

const lease = (part: Partial<LeaseRecord>): LeaseRecord => ({
  workerId: "a",
  entryId: "e",
  claimToken: "t",
  claimedAt: 1_000,
  claimExpiresAt: 2_000,
  claimAttemptCount: 1,
  ended: false,
  ...part,
});

const after = (claimedAt: number, part: Partial<LeaseRecord> = {}): LeaseRecord =>
  lease({
    workerId: "b",
    claimedAt,
    claimExpiresAt: claimedAt + 1_000,
    claimAttemptCount: 2,
    ...part,
  });

test("a lease taken while another is live is an overlap", () => {
  expect(() => assertLeasesNeverOverlap([after(1_500), lease({})], 1)).toThrow(
    /b claimed it at .* while a held it/,
  );
});

test("a lease taken at the other's end, or after it was ended, is none", () => {
  assertLeasesNeverOverlap([lease({}), after(2_000)], 1);
  assertLeasesNeverOverlap([lease({ ended: true }), after(1_500)], 1);
});

test("leases of different entries do not meet", () => {
  assertLeasesNeverOverlap([lease({}), after(1_500, { entryId: "f" })], 1);
});

test("instants that were cut to the store's precision are given that much", () => {
  assertLeasesNeverOverlap([lease({}), after(1_999)], 1);
  expect(() => assertLeasesNeverOverlap([lease({}), after(1_990)], 1)).toThrow();
});
