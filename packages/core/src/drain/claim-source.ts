import { randomUUID } from "node:crypto";
import type { ClaimBatch, ClaimRequest } from "../contract/claim-request.js";
import type { OutboxClaim } from "../contract/outbox-claim.js";
import type { ClaimCompletion, OutboxClaimStore } from "../contract/outbox-claim-store.js";
import { StoreError } from "../errors/store-error.js";
import type { Timing } from "../timing/timing.js";
import type { ResolvedDrainOptions } from "./resolve-drain-options.js";

import { StoreAnswers } from "./store-answers.js";
import { type WorkItem, workItem } from "./work-item.js";
import type { FinishedItem, TakenWork, WorkRequest, WorkSource } from "./work-source.js";

/** How long a cursor is followed before the next claim starts from the beginning again, in ms. */
const cursorLifeMs = 2_000;

/** How many claims ask again for one whose reply was lost: it may be applied after the first of them. */
const repeatsOfLostClaim = 3;

/** A slow reply to a completion is still worth having, however short the lease, in ms. */
const shortestPatienceMs = 30_000;

type Options = Pick<
  ResolvedDrainOptions,
  "workerId" | "leaseDurationMs" | "maxBatchBytes" | "types"
>;

interface LostClaim {
  readonly claimId: string;
  /** As many as were asked for: a repeat for fewer would leave the rest leased to nobody. */
  readonly maxCount: number;
  readonly suspects: boolean;
  /** Tokens that repeats have returned already. */
  readonly seen: Set<string>;
  repeatsLeft: number;
}

/** Work under leases. */
export class ClaimSource implements WorkSource {
  readonly overlaps = true;
  readonly #store: OutboxClaimStore;
  readonly #options: Options;
  readonly #timing: Timing;
  readonly #answers: StoreAnswers;
  #cursor: { readonly after: string; readonly since: number } | null = null;
  #cursorTypes: readonly string[] | null = null;
  #lostClaim: LostClaim | null = null;
  #suspectsDue = false;
  #tookSuspects = false;

  constructor(store: OutboxClaimStore, options: Options, timing: Timing) {
    this.#store = store;
    this.#options = options;
    this.#timing = timing;
    this.#answers = new StoreAnswers(timing);
  }

  get wantsSuspects(): boolean {
    return this.#lostClaim?.suspects ?? (this.#suspectsDue && !this.#tookSuspects);
  }

  async take(wanted: WorkRequest): Promise<TakenWork> {
    const lost = this.#lostClaim;
    const claimId = lost?.claimId ?? randomUUID();
    const suspects = lost?.suspects ?? wanted.suspects;
    const maxCount = Math.max(wanted.maxCount, lost?.maxCount ?? 0);
    if (wanted.types !== this.#cursorTypes) this.#cursor = null;
    this.#cursorTypes = wanted.types;
    try {
      // A reply that takes longer than the lease brings only dead leases.
      const batch = await this.#answers.within(
        this.#options.leaseDurationMs,
        "claim",
        this.#store.claim(this.#request({ ...wanted, maxCount, suspects }, claimId)),
      );
      const claims = this.#withoutSeen(batch.claims);
      if (!suspects) this.#followCursor(batch);
      this.#suspectsDue = batch.suspectsDue;
      this.#tookSuspects = suspects;
      return {
        items: claims.map((claim) => workItem(claim.entry, claim, suspects)),
        // Ordinary entries and suspects take turns.
        more: batch.suspectsDue || suspects ? "likely" : batch.more,
      };
    } catch (error) {
      this.#cursor = null;
      if (mayBeApplied(error) && this.#store.capabilities.claimReplay) {
        // Its entries may be leased to us without our knowing: ask for them again.
        const seen = lost?.seen ?? new Set<string>();
        this.#lostClaim = { claimId, maxCount, suspects, seen, repeatsLeft: repeatsOfLostClaim };
      }
      throw error;
    }
  }

  async finish(finished: readonly FinishedItem[]) {
    // A released entry lies before the cursor.
    if (finished.some(({ decision }) => decision.kind === "release")) this.#cursor = null;
    return this.#answers.within(
      Math.max(this.#options.leaseDurationMs, shortestPatienceMs),
      "completeClaims",
      this.#store.completeClaims(
        finished.map(
          ({ item, decision }) => ({ ...decision, claim: claimOf(item) }) as ClaimCompletion,
        ),
      ),
    );
  }

  async renew(items: readonly WorkItem[]) {
    const { leaseDurationMs } = this.#options;
    return this.#answers.within(
      // Soon enough to try once more.
      leaseDurationMs / 2,
      "extendClaims",
      this.#store.extendClaims(items.map(claimOf), { leaseDurationMs }),
    );
  }

  end(): void {
    this.#answers.end();
  }

  #request(wanted: WorkRequest, claimId: string): ClaimRequest {
    const { workerId, leaseDurationMs, maxBatchBytes } = this.#options;
    const { claimReplay, crashIsolation } = this.#store.capabilities;
    const types = wanted.types ?? this.#options.types;
    const cursor = this.#cursor;
    const isFresh = cursor !== null && this.#timing.monotonic() - cursor.since < cursorLifeMs;
    return {
      workerId,
      leaseDurationMs,
      maxCount: wanted.maxCount,
      maxBytes: maxBatchBytes,
      ...(types === null ? {} : { types }),
      ...(claimReplay ? { claimId } : {}),
      ...(crashIsolation ? { suspects: wanted.suspects ? "only" : "exclude" } : {}),
      ...(isFresh && !wanted.suspects ? { after: cursor.after } : {}),
    };
  }

  /** Each repeat returns what the one before it returned, as long as those leases live. */
  #withoutSeen(claims: readonly OutboxClaim[]): readonly OutboxClaim[] {
    const lost = this.#lostClaim;
    if (lost === null) return claims;
    lost.repeatsLeft -= 1;
    if (lost.repeatsLeft === 0) this.#lostClaim = null;
    const unseen = claims.filter(({ claimToken }) => !lost.seen.has(claimToken));
    for (const { claimToken } of unseen) lost.seen.add(claimToken);
    return unseen;
  }

  /** Late commits and retries that became due lie before the cursor, so it is not followed for long. */
  #followCursor({ cursor, more }: ClaimBatch): void {
    if (cursor === undefined || more !== "likely" || this.#lostClaim !== null) {
      this.#cursor = null;
      return;
    }
    const now = this.#timing.monotonic();
    const since = this.#cursor?.since ?? now;
    this.#cursor = now - since < cursorLifeMs ? { after: cursor, since } : null;
  }
}

/** Only a store error that says so certainly left nothing behind. */
function mayBeApplied(error: unknown): boolean {
  return !StoreError.isInstance(error) || error.kind === "unknown-outcome";
}

function claimOf({ claim }: WorkItem): OutboxClaim {
  if (claim === null) throw new TypeError("an item of a claim source has a claim");
  return claim;
}
