import type { DriverCompletion, DriverTransition, StoreDriver } from "../contract/store-driver.js";
import type { ClaimTransition } from "../contract/transition.js";
import { applyTransition } from "../entry/apply-transition.js";
import { withoutTexts } from "../entry/transition-writes.js";
import { StoreError } from "../errors/store-error.js";
import { batchesWithoutRepeats } from "./batches-without-repeats.js";
import { brokenDriver } from "./broken-driver.js";
import type { StoreCalls } from "./store-calls.js";

type Send = (batch: readonly DriverCompletion[]) => Promise<readonly ClaimTransition[]>;

/**
 * Completes any number of claims, in as few driver calls as it allows; outcomes in input order.
 *
 * A batch that the database refuses for a value in it is halved until the bad entry stands alone,
 * which is then finalized with its texts replaced: one entry's words must not keep the others, or
 * itself, from being finalized. One that is refused even so fails the call after all the others.
 */
export async function completeInBatches(
  driver: StoreDriver<never>,
  calls: StoreCalls,
  completions: readonly DriverCompletion[],
): Promise<readonly ClaimTransition[]> {
  const send: Send = async (batch) => {
    const transitions = await calls.run("complete", "always", () => driver.complete(batch));
    return batch.map((completion, index) => {
      const transition = transitions[index];
      if (transition === undefined) throw brokenDriver(driver, "complete", "a missing outcome");
      return toClaimTransition(completion, transition);
    });
  };
  const outcomes: ClaimTransition[] = [];
  let refused: StoreError | undefined;
  for (const batch of batchesWithoutRepeats(
    completions,
    ({ claim }) => claim.entry.entryId,
    driver.capabilities.maxTransitionBatch,
  )) {
    for (const result of await completeBatch(send, batch)) {
      if (StoreError.isInstance(result)) refused ??= result;
      else outcomes.push(result);
    }
  }
  if (refused !== undefined) throw refused;
  return outcomes;
}

async function completeBatch(
  send: Send,
  batch: readonly DriverCompletion[],
): Promise<readonly (ClaimTransition | StoreError)[]> {
  try {
    return await send(batch);
  } catch (error) {
    const cause = refusedValue(error);
    const [first] = batch;
    if (batch.length === 1 && first !== undefined) {
      return [await completeWithoutTexts(send, first, cause)];
    }
    const middle = Math.ceil(batch.length / 2);
    const before = await completeBatch(send, batch.slice(0, middle));
    return [...before, ...(await completeBatch(send, batch.slice(middle)))];
  }
}

async function completeWithoutTexts(
  send: Send,
  { claim, write }: DriverCompletion,
  cause: StoreError,
): Promise<ClaimTransition | StoreError> {
  try {
    const plain = { claim, write: withoutTexts(write, claim.entry, cause.message) };
    const [transition] = await send([plain]);
    return transition ?? cause;
  } catch (error) {
    return refusedValue(error);
  }
}

/** The error, if the database refused a value; any other is thrown on. */
function refusedValue(error: unknown): StoreError {
  if (StoreError.isInstance(error) && error.kind === "invalid-data") return error;
  throw error;
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
