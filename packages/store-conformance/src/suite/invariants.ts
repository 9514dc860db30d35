/** The invariants of the contract, in the order in which the matrix prints them. */
export const invariants = {
  contract: "declared contract is the one that is there",
  A1: "atomic claim",
  A2: "bounded",
  A3: "ordered",
  A4: "complete stamp",
  A5: "expiry",
  A6: "fencing",
  A7: "terminal",
  A8: "clears",
  A9: "idempotent finalization",
  A10: "transactional enqueue",
  A11: "no loss",
  A12: "one clock",
  A13: "round trip",
  A14: "parked",
  A15: "no starvation",
  A16: "crash poison",
  A17: "per-key order",
  A18: "not early",
} as const;

export type InvariantId = keyof typeof invariants;

export const invariantIds = Object.keys(invariants) as readonly InvariantId[];
