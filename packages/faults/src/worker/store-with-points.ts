import type { ClaimBatch, ClaimCompletion, ClaimRequest, OutboxClaimStore } from "@outbox/core";
import type { PointFaults } from "./point-faults.js";

/** The store, with the points around its calls. */
export function storeWithPoints<Store extends OutboxClaimStore>(
  store: Store,
  points: PointFaults,
): Store {
  return {
    ...store,
    async claim(request: ClaimRequest): Promise<ClaimBatch> {
      points.pass("claiming", []);
      const batch = await store.claim(request);
      const entryIds = batch.claims.map(({ entry }) => entry.entryId);
      if (entryIds.length > 0) points.pass("claimed", entryIds);
      return batch;
    },
    async completeClaims(completions: readonly ClaimCompletion[]) {
      const entryIds = completions.map(({ claim }) => claim.entry.entryId);
      points.pass("finalizing", entryIds);
      const transitions = await store.completeClaims(completions);
      points.pass("finalized", entryIds);
      return transitions;
    },
  };
}
