import { claimMutants } from "./claim-mutants.js";
import { enqueueMutants } from "./enqueue-mutants.js";
import { facetMutants } from "./facet-mutants.js";
import { faultsElsewhere } from "./faults-elsewhere.js";
import type { Mutant } from "./mutant.js";
import { storeMutants } from "./store-mutants.js";
import { transitionMutants } from "./transition-mutants.js";

const faults: readonly Mutant[] = [
  ...claimMutants,
  ...transitionMutants,
  ...enqueueMutants,
  ...facetMutants,
  ...storeMutants,
];

/** Every broken store, by what is broken. */
export const mutants: readonly Mutant[] = [...faults, ...faultsElsewhere(faults)];

export function findMutant(id: string): Mutant {
  const found = mutants.find((one) => one.id === id);
  if (found === undefined) throw new TypeError(`there is no mutant "${id}"`);
  return found;
}
