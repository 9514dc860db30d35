import { randomUUID } from "node:crypto";
import type { ClaimRequest } from "../contract/claim-request.js";
import type { OutboxClaim } from "../contract/outbox-claim.js";
import type { ClaimCompletion, OutboxClaimStore } from "../contract/outbox-claim-store.js";
import { StoreError } from "../errors/store-error.js";
import type { Timing } from "../timing/timing.js";
import type { ResolvedDrainOptions } from "./resolve-drain-options.js";
import type { WorkItem } from "./work-item.js";
import type { FinishedItem, TakenWork, WorkSource } from "./work-source.js";

/** How long a cursor is followed before the next claim starts from the beginning again, in ms. */
const cursorLifeMs = 2_000;

/** How many claims ask again for one whose reply was lost. */
const repeatsOfLostClaim = 3;

type Options = Pick<
  ResolvedDrainOptions,
  "workerId" | "leaseDurationMs" | "maxBatchBytes" | "types"
>;

/** Work under leases. */
export class ClaimSource implements WorkSource {
  readonly overlaps = true;
  readonly #store: OutboxClaimStore;
  readonly #options: Options;
  readonly #timing: Timing;
  #cursor: { readonly after: string; readonly since: number } | null = null;
  #lostClaim: { readonly claimId: string; repeatsLeft: number } | null = null;

  constructor(store: OutboxClaimStore, options: Options, timing: Timing) {
    this.#store = store;
    this.#options = options;
    this.#timing = timing;
  }

  async take(maxCount: number): Promise<TakenWork> {
    const claimId = this.#lostClaim?.claimId ?? randomUUID();
    try {
      const batch = await this.#store.claim(this.#request(maxCount, claimId));
      if (this.#lostClaim !== null && --this.#lostClaim.repeatsLeft === 0) this.#lostClaim = null;
      this.#followCursor(batch.cursor, batch.more === "likely");
      return { items: batch.claims.map(toItem), more: batch.more };
    } catch (error) {
      this.#cursor = null;
      if (StoreError.isInstance(error) && error.kind === "unknown-outcome") {
        // Its entries may be leased to us without our knowing: ask for them again.
        this.#lostClaim = { claimId, repeatsLeft: repeatsOfLostClaim };
      }
      throw error;
    }
  }

  async finish(finished: readonly FinishedItem[]) {
    // A released entry lies before the cursor.
    if (finished.some(({ decision }) => decision.kind === "release")) this.#cursor = null;
    return this.#store.completeClaims(
      finished.map(
        ({ item, decision }) => ({ ...decision, claim: claimOf(item) }) as ClaimCompletion,
      ),
    );
  }

  async renew(items: readonly WorkItem[]) {
    const { leaseDurationMs } = this.#options;
    return this.#store.extendClaims(items.map(claimOf), { leaseDurationMs });
  }

  #request(maxCount: number, claimId: string): ClaimRequest {
    const { workerId, leaseDurationMs, maxBatchBytes, types } = this.#options;
    const cursor = this.#cursor;
    const isFresh = cursor !== null && this.#timing.monotonic() - cursor.since < cursorLifeMs;
    return {
      workerId,
      leaseDurationMs,
      maxCount,
      maxBytes: maxBatchBytes,
      ...(types === null ? {} : { types }),
      ...(this.#store.capabilities.claimReplay ? { claimId } : {}),
      ...(isFresh && this.#lostClaim === null ? { after: cursor.after } : {}),
    };
  }

  /** Late commits and retries that became due lie before the cursor, so it is not followed for long. */
  #followCursor(after: string | undefined, wasFull: boolean): void {
    if (after === undefined || !wasFull) {
      this.#cursor = null;
      return;
    }
    const now = this.#timing.monotonic();
    const since = this.#cursor?.since ?? now;
    this.#cursor = now - since < cursorLifeMs ? { after, since } : null;
  }
}

function toItem(claim: OutboxClaim): WorkItem {
  return { entry: claim.entry, claim };
}

function claimOf({ claim }: WorkItem): OutboxClaim {
  if (claim === null) throw new TypeError("an item of a claim source has a claim");
  return claim;
}
