import type { Mutant } from "./mutant.js";

/** Faults that another case must notice too, because it looks at them from another side. */
const elsewhere: readonly (readonly [id: string, suffix: string, killedBy: Mutant["killedBy"]])[] =
  [
    ["lease-never-expires", "of-the-killed", "A11-killed-holder"],
    ["lease-never-expires", "of-the-cut-off", "A11-connection-cut-inside-a-claim"],
    ["live-lease-ignored", "between-sessions", "A12-session-variants"],
    ["time-zone-added", "between-sessions", "A13-session-variants"],
    ["time-zone-added", "when-due", "A18-session-variants"],
    ["duplicate-not-said", "when-concurrent", "A10-concurrent-duplicate-commits"],
    ["returned-backwards", "when-contended", "A3-contended-order"],
  ];

export function faultsElsewhere(mutants: readonly Mutant[]): readonly Mutant[] {
  return elsewhere.map(([id, suffix, killedBy]) => {
    const mutant = mutants.find((one) => one.id === id);
    if (mutant === undefined) throw new TypeError(`there is no mutant "${id}"`);
    return { ...mutant, id: `${id}-${suffix}`, killedBy };
  });
}
