import type { TransitionKind } from "@outbox/core";
import { BoundedMap } from "./bounded-map.js";

const mostClaims = 20_000;

/**
 * What this process has done with claims: so that a repeated transition does nothing twice, and the
 * message that a newer copy replaced is recognised when it comes back.
 */
export class FinishedClaims {
  readonly #finished = new BoundedMap<string, { readonly kind: TransitionKind; readonly at: Date }>(
    mostClaims,
  );
  readonly #sent = new BoundedMap<string, true>(mostClaims);
  readonly #superseded = new BoundedMap<string, true>(mostClaims);

  /** What was applied under this token. */
  get(claimToken: string) {
    return this.#finished.get(claimToken);
  }

  finish(claimToken: string, kind: TransitionKind, at: Date): void {
    this.#finished.set(claimToken, { kind, at });
    this.#sent.delete(claimToken);
  }

  /** A newer copy of the entry is in a queue; what is left to do is to delete this one. */
  noteSent(claimToken: string, entryId: string, generation: number): void {
    this.#sent.set(claimToken, true);
    this.#superseded.set(`${generation}:${entryId}`, true);
  }

  wasSent(claimToken: string): boolean {
    return this.#sent.get(claimToken) === true;
  }

  /** A newer copy of this one is known to be in a queue. */
  isSuperseded(entryId: string, generation: number): boolean {
    return this.#superseded.get(`${generation}:${entryId}`) === true;
  }
}
