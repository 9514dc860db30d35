import type { DriverCompletion, DriverTransition, StoreDriver } from "../contract/store-driver.js";
import type { ClaimTransition } from "../contract/transition.js";
import { applyTransition } from "../entry/apply-transition.js";
import { withoutTexts } from "../entry/transition-writes.js";
import { StoreError } from "../errors/store-error.js";
import { brokenDriver } from "./broken-driver.js";
import type { StoreCalls } from "./store-calls.js";

/**
 * Completes any number of claims, in as few driver calls as it allows; outcomes in input order.
 *
 * A batch that the database refuses for a value in it is halved until the bad entry stands alone,
 * which is then finalized with its texts replaced: one entry's words must not keep the others, or
 * itself, from being finalized.
 */
export async function completeInBatches(
  driver: StoreDriver<never>,
  calls: StoreCalls,
  completions: readonly DriverCompletion[],
): Promise<readonly ClaimTransition[]> {
  const outcomes = new Map<DriverCompletion, ClaimTransition>();
  for (const batch of batchesWithoutRepeats(completions, driver.capabilities.maxTransitionBatch)) {
    await completeBatch(driver, calls, batch, outcomes);
  }
  return completions.map((completion) => {
    const outcome = outcomes.get(completion);
    if (outcome === undefined) throw brokenDriver(driver, "complete", "a missing outcome");
    return outcome;
  });
}

async function completeBatch(
  driver: StoreDriver<never>,
  calls: StoreCalls,
  batch: readonly DriverCompletion[],
  outcomes: Map<DriverCompletion, ClaimTransition>,
): Promise<void> {
  try {
    const transitions = await calls.run("complete", "always", () => driver.complete(batch));
    batch.forEach((completion, index) => {
      const transition = transitions[index];
      if (transition === undefined) throw brokenDriver(driver, "complete", "a missing outcome");
      outcomes.set(completion, toClaimTransition(completion, transition));
    });
  } catch (error) {
    if (!StoreError.isInstance(error) || error.kind !== "invalid-data") throw error;
    const [first] = batch;
    if (batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      await completeBatch(driver, calls, batch.slice(0, middle), outcomes);
      await completeBatch(driver, calls, batch.slice(middle), outcomes);
    } else if (first !== undefined) {
      const write = withoutTexts(first.write, first.claim.entry, error.message);
      const plain = { claim: first.claim, write };
      const [transition] = await calls.run("complete", "always", () => driver.complete([plain]));
      if (transition === undefined) throw brokenDriver(driver, "complete", "a missing outcome");
      outcomes.set(first, toClaimTransition(plain, transition));
    }
  }
}

function toClaimTransition(
  { claim, write }: DriverCompletion,
  { outcome, at, replayed, entry }: DriverTransition,
): ClaimTransition {
  if (outcome === "applied" && replayed !== true && at !== null) {
    return { outcome, entry: applyTransition(claim.entry, write, at, claim.claimToken) };
  }
  return { outcome, entry: entry ?? null, ...(replayed === true ? { replayed } : {}) };
}

/** Splits so that no batch is too long or names an entry twice. */
function batchesWithoutRepeats(
  completions: readonly DriverCompletion[],
  maxBatch: number | null,
): readonly (readonly DriverCompletion[])[] {
  const batches: DriverCompletion[][] = [];
  let current: DriverCompletion[] = [];
  let ids = new Set<string>();
  for (const completion of completions) {
    const id = completion.claim.entry.entryId;
    if (ids.has(id) || current.length === maxBatch) {
      batches.push(current);
      current = [];
      ids = new Set();
    }
    current.push(completion);
    ids.add(id);
  }
  if (current.length > 0) batches.push(current);
  return batches;
}
