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

/** What to take. */
export interface WorkRequest {
  readonly maxCount: number;
  /** `null`: whatever the drain's options say. */
  readonly types: readonly string[] | null;
  /** Suspects only; otherwise none, where the store can tell. */
  readonly suspects: boolean;
}

/** Where a drain's work comes from and goes back to: claims, or the compatibility path. */
export interface WorkSource {
  /** Whether the next items may be taken while earlier ones are still in hand. */
  readonly overlaps: boolean;
  /**
   * The next items should be suspects: the last ones were not, and some are due. (Or they were
   * asked for, and the reply was lost.)
   */
  readonly wantsSuspects: boolean;
  take(request: WorkRequest): Promise<TakenWork>;
  /** Outcomes in input order. Safe to repeat. */
  finish(finished: readonly FinishedItem[]): Promise<readonly ClaimTransition[]>;
  /** Renews the leases; outcomes in input order. */
  renew(items: readonly WorkItem[]): Promise<readonly ClaimExtension[]>;
  /** Nobody waits for answers any more; what is asked from now on may take as long as it takes. */
  end(): void;
}
