import type { ClaimBatch, ClaimExtension } from "../contract/claim-request.js";
import type { ClaimTransition } from "../contract/transition.js";
import type { Decision } from "./decide-completion.js";
import type { WorkItem } from "./work-item.js";

/** An item with what is to become of it. */
export interface FinishedItem {
  readonly item: WorkItem;
  readonly decision: Decision;
}

export interface TakenWork {
  readonly items: readonly WorkItem[];
  readonly more: ClaimBatch["more"];
}

/** Where a drain's work comes from and goes back to: claims, or the compatibility path. */
export interface WorkSource {
  /** Whether the next items may be taken while earlier ones are still in hand. */
  readonly overlaps: boolean;
  take(maxCount: number): Promise<TakenWork>;
  /** Outcomes in input order. Safe to repeat. */
  finish(finished: readonly FinishedItem[]): Promise<readonly ClaimTransition[]>;
  /** Renews the leases; outcomes in input order. */
  renew(items: readonly WorkItem[]): Promise<readonly ClaimExtension[]>;
  /** Nobody waits for answers any more; what is asked from now on may take as long as it takes. */
  end(): void;
}
