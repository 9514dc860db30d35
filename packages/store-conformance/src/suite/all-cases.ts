import { atomicClaim } from "../cases/a01-atomic-claim.js";
import { bounded } from "../cases/a02-bounded.js";
import { ordered } from "../cases/a03-ordered.js";
import { completeStamp } from "../cases/a04-complete-stamp.js";
import { expiry } from "../cases/a05-expiry.js";
import { fencing } from "../cases/a06-fencing.js";
import { terminal } from "../cases/a07-terminal.js";
import { clears } from "../cases/a08-clears.js";
import { idempotentFinalization } from "../cases/a09-idempotent-finalization.js";
import { transactionalEnqueue } from "../cases/a10-transactional-enqueue.js";
import { noLoss } from "../cases/a11-no-loss.js";
import { oneClock } from "../cases/a12-one-clock.js";
import { roundTrip } from "../cases/a13-round-trip.js";
import { parked } from "../cases/a14-parked.js";
import { noStarvation } from "../cases/a15-no-starvation.js";
import { crashPoison } from "../cases/a16-crash-poison.js";
import { perKeyOrder } from "../cases/a17-per-key-order.js";
import { notEarly } from "../cases/a18-not-early.js";
import { contract } from "../cases/contract.js";
import { contractFacets } from "../cases/contract-facets.js";
import type { ConformanceCase } from "./conformance-case.js";

/** The suite, in the order in which it is run and reported. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...contract,
  ...contractFacets,
  ...atomicClaim,
  ...bounded,
  ...ordered,
  ...completeStamp,
  ...expiry,
  ...fencing,
  ...terminal,
  ...clears,
  ...idempotentFinalization,
  ...transactionalEnqueue,
  ...noLoss,
  ...oneClock,
  ...roundTrip,
  ...parked,
  ...noStarvation,
  ...crashPoison,
  ...perKeyOrder,
  ...notEarly,
];

export function findCase(id: string): ConformanceCase {
  const found = conformanceCases.find((one) => one.id === id);
  if (found === undefined) throw new TypeError(`there is no case "${id}"`);
  return found;
}
