import type { StoreDriver } from "@outbox/core";

/** Who holds what, by token. */
export interface LedgerLine {
  readonly owner: string;
  readonly claimedAtMs: number;
  isOver: boolean;
}

/**
 * SQS keeps no owner and no instant of a receive, nor does it tell a message that is held from one
 * that was given back with a delay. So that raw probes can say it, the harness looks over the
 * drivers' shoulders.
 */
export class ClaimLedger {
  readonly lines = new Map<string, LedgerLine>();

  watch<Driver extends StoreDriver<never>>(driver: Driver): Driver {
    return {
      ...driver,
      claim: async (command: Parameters<Driver["claim"]>[0]) => {
        const batch = await driver.claim(command);
        for (const { entry } of batch.claims) {
          const { claimToken, claimOwner, claimedAt } = entry;
          if (claimToken === null || claimOwner === null || claimedAt === null) continue;
          this.lines.set(claimToken, {
            owner: claimOwner,
            claimedAtMs: claimedAt.getTime(),
            isOver: false,
          });
        }
        return batch;
      },
      complete: async (completions: Parameters<Driver["complete"]>[0]) => {
        const transitions = await driver.complete(completions);
        for (const [index, { claim }] of completions.entries()) {
          const line = this.lines.get(claim.claimToken);
          if (line !== undefined && transitions[index]?.outcome === "applied") line.isOver = true;
        }
        return transitions;
      },
    };
  }
}
