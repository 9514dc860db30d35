import type { DriverTransition } from "@outbox/core";
import type { Mutant } from "./mutant.js";
import { overrideDriver } from "./override-driver.js";
import { overwrite, replaceClaims, withStoredToken } from "./stored-claims.js";

/** Stores that end leases wrongly: for the wrong holder, twice, half, or with other effects. */
export const transitionMutants: readonly Mutant[] = [
  {
    id: "no-fence",
    description: "applies a transition whatever its token, if anyone holds the entry",
    killedBy: "A6-stale-claim-is-powerless",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) =>
          driver.complete(
            await replaceClaims(completions, (claim) => withStoredToken(raw(), claim)),
          ),
      }),
  },
  {
    id: "fence-on-owner",
    description: "takes the owner's name for proof that the lease is still its own",
    killedBy: "A6-owner-is-no-fence",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) =>
          driver.complete(
            await replaceClaims(completions, (claim) =>
              withStoredToken(raw(), claim, (row) => row.claimOwner === claim.workerId),
            ),
          ),
      }),
  },
  {
    id: "completion-by-id",
    description: "completes an open entry by its id alone",
    killedBy: "A6-released-claim-is-over",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) => {
          for (const { claim } of completions) {
            const row = await raw().readEntry(claim.entry.entryId);
            if (row === null || row.status === "delivered" || row.status === "dead-lettered") {
              continue;
            }
            await overwrite(raw(), row.entryId, { claimToken: claim.claimToken });
          }
          return driver.complete(completions);
        },
      }),
  },
  {
    id: "fence-without-entry",
    description: "completes whatever entry carries the token",
    killedBy: "A6-tokens-fence-per-entry",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) => {
          const rows = await raw().readEntries();
          const redirected = await replaceClaims(completions, async (claim) => {
            const row = rows.find(({ claimToken }) => claimToken === claim.claimToken);
            const entryId = row?.entryId ?? claim.entry.entryId;
            return { ...claim, entry: { ...claim.entry, entryId } };
          });
          return driver.complete(redirected);
        },
      }),
  },
  {
    id: "no-fence-on-extension",
    description: "extends a lease that another holds by now",
    killedBy: "A6-mixed-extension",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        extend: async (claims, leaseDurationMs) =>
          driver.extend(
            await Promise.all(claims.map((claim) => withStoredToken(raw(), claim))),
            leaseDurationMs,
          ),
      }),
  },
  {
    id: "extension-counts-as-a-claim",
    description: "counts a renewal as another claim",
    killedBy: "A4-extension-keeps-the-token",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        extend: async (claims, leaseDurationMs) => {
          const extensions = await driver.extend(claims, leaseDurationMs);
          for (const { entry } of claims) {
            const claimAttemptCount = entry.claimAttemptCount + 1;
            await overwrite(raw(), entry.entryId, { claimAttemptCount });
          }
          return extensions;
        },
      }),
  },
  {
    id: "missing-not-said",
    description: "answers that a claim is stale when its entry is gone",
    killedBy: "A6-missing",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: async (completions) =>
          (await driver.complete(completions)).map((transition) =>
            transition.outcome === "missing"
              ? { ...transition, outcome: "stale-claim" }
              : transition,
          ),
      }),
  },
  {
    id: "late-completion-refused",
    description: "refuses a transition once the lease has expired, though nobody re-claimed",
    killedBy: "A6-expired-not-reclaimed-applies",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) => {
          const now = await raw().now();
          return Promise.all(
            completions.map(async (completion): Promise<DriverTransition> => {
              const row = await raw().readEntry(completion.claim.entry.entryId);
              const isOver = row?.claimExpiresAt != null && row.claimExpiresAt <= now;
              if (isOver) return { outcome: "stale-claim", at: null };
              const [transition] = await driver.complete([completion]);
              return transition ?? { outcome: "missing", at: null };
            }),
          );
        },
      }),
  },
  {
    id: "terminal-overwrite",
    description: "lets a late result overwrite a terminal entry",
    killedBy: "A7-late-transition",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) => {
          for (const { claim } of completions) {
            const row = await raw().readEntry(claim.entry.entryId);
            if (row?.status !== "delivered" && row?.status !== "dead-lettered") continue;
            await overwrite(raw(), row.entryId, { claimToken: claim.claimToken });
          }
          return driver.complete(completions);
        },
      }),
  },
  {
    id: "claim-not-cleared",
    description: "leaves the owner behind when a claim ends",
    killedBy: "A8-every-transition-clears",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) => {
          const transitions = await driver.complete(completions);
          for (const { claim } of completions) {
            await overwrite(raw(), claim.entry.entryId, { claimOwner: claim.workerId });
          }
          return transitions;
        },
      }),
  },
  {
    id: "swallowed-partial-failure",
    description: "reports a whole batch as applied after the database took half of it",
    killedBy: "A8-whole-batch-is-applied",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: async (completions) => {
          const half = Math.ceil(completions.length / 2);
          const done = await driver.complete(completions.slice(0, half));
          const rest = completions
            .slice(half)
            .map((): DriverTransition => ({ outcome: "applied", at: done[0]?.at ?? null }));
          return [...done, ...rest];
        },
      }),
  },
  {
    id: "metadata-overwritten",
    description: "empties the metadata with every transition",
    killedBy: "A8-what-a-transition-writes",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: (completions) =>
          driver.complete(
            completions.map(({ claim, write }) => ({ claim, write: { ...write, metadata: {} } })),
          ),
      }),
  },
  {
    id: "release-counts-a-failure",
    description: "counts a release as a failed emission",
    killedBy: "A4-counters-are-not-mixed",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: (completions) =>
          driver.complete(
            completions.map(({ claim, write }) => ({
              claim,
              write:
                write.kind === "release" ? { ...write, retryCount: write.retryCount + 1 } : write,
            })),
          ),
      }),
  },
  {
    id: "deferral-counts-a-failure",
    description: "counts a deferral as a failed emission",
    killedBy: "contract-save-writes-no-more",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: (completions) =>
          driver.complete(
            completions.map(({ claim, write }) => ({
              claim,
              write:
                write.kind === "deferred" ? { ...write, retryCount: write.retryCount + 1 } : write,
            })),
          ),
      }),
  },
  {
    id: "release-uncounts-the-claim",
    description: "takes the claim's count back on release",
    killedBy: "A4-counters-are-not-mixed",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) => {
          const transitions = await driver.complete(completions);
          for (const { claim, write } of completions) {
            const { entryId, claimAttemptCount } = claim.entry;
            if (write.kind !== "release") continue;
            await overwrite(raw(), entryId, { claimAttemptCount: claimAttemptCount - 1 });
          }
          return transitions;
        },
      }),
  },
  {
    id: "release-is-due-now",
    description: "gives a released entry a new due time, behind everything that waits",
    killedBy: "A3-released-keeps-its-place",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: (completions) =>
          driver.complete(
            completions.map(({ claim, write }) => ({
              claim,
              write: write.kind === "release" ? { ...write, due: { inMs: 0 } } : write,
            })),
          ),
      }),
  },
  {
    id: "release-parks",
    description: "parks an entry that was released",
    killedBy: "A11-every-path-keeps-the-entry",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: (completions) =>
          driver.complete(
            completions.map(({ claim, write }) => ({
              claim,
              write: write.kind === "release" ? { ...write, status: "failed" } : write,
            })),
          ),
      }),
  },
  {
    id: "release-clears-suspicion",
    description: "resets the abandoned count on release",
    killedBy: "A16-counters-reset",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) => {
          const transitions = await driver.complete(completions);
          for (const { claim, write } of completions) {
            if (write.kind !== "release") continue;
            await overwrite(raw(), claim.entry.entryId, { abandonedClaimCount: 0 });
          }
          return transitions;
        },
      }),
  },
  {
    id: "resolution-not-stored",
    description: "stores the token of the last transition without its kind",
    killedBy: "A9-resolution-is-stored",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) => {
          const transitions = await driver.complete(completions);
          for (const { claim } of completions) {
            await overwrite(raw(), claim.entry.entryId, { resolvedTransition: null });
          }
          return transitions;
        },
      }),
  },
  {
    id: "resolution-forgotten",
    description: "does not recognise the repetition of a transition",
    killedBy: "A9-repeated-transition",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: async (completions) =>
          (await driver.complete(completions)).map((transition) =>
            transition.replayed === true ? { outcome: "stale-claim", at: null } : transition,
          ),
      }),
  },
  {
    id: "repetition-applied-again",
    description: "applies a repeated transition once more",
    killedBy: "A9-repeated-transition",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) => {
          for (const { claim } of completions) {
            const row = await raw().readEntry(claim.entry.entryId);
            if (row?.resolvedClaimToken !== claim.claimToken) continue;
            await overwrite(raw(), row.entryId, { claimToken: claim.claimToken });
          }
          return driver.complete(completions);
        },
      }),
  },
  {
    id: "resolution-without-kind",
    description: "takes any later transition of the same claim for its repetition",
    killedBy: "A9-other-kind-is-no-repetition",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        complete: async (completions) => {
          const transitions = await driver.complete(completions);
          return Promise.all(
            transitions.map(async (transition, index): Promise<DriverTransition> => {
              const claim = completions[index]?.claim;
              if (transition.outcome === "applied" || claim === undefined) return transition;
              const row = await raw().readEntry(claim.entry.entryId);
              return row?.resolvedClaimToken === claim.claimToken
                ? { ...transition, outcome: "applied", replayed: true }
                : transition;
            }),
          );
        },
      }),
  },
  {
    id: "provider-message-forgotten",
    description: "does not remember the provider's id of a delivered message",
    killedBy: "contract-keeps-delivered",
    requires: ({ facets }) =>
      facets.has("selection") ? undefined : { notRun: "nobody could read it" },
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: (completions) =>
          driver.complete(
            completions.map(({ claim, write }) => ({
              claim,
              write: { ...write, providerMessageId: null },
            })),
          ),
      }),
  },
  {
    id: "failures-not-stored",
    description: "counts failures and forgets what they said",
    killedBy: "A13-error-texts",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: (completions) =>
          driver.complete(
            completions.map(({ claim, write }) => ({ claim, write: { ...write, failures: [] } })),
          ),
      }),
  },
  {
    id: "failures-backwards",
    description: "stores the failures newest first",
    killedBy: "A13-failures-are-bounded",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: (completions) =>
          driver.complete(
            completions.map(({ claim, write }) => ({
              claim,
              write: { ...write, failures: [...write.failures].reverse() },
            })),
          ),
      }),
  },
  {
    id: "host-clock-delays",
    description: "reckons delays from the host's now",
    killedBy: "A12-delays-by-the-store",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: (completions) =>
          driver.complete(
            completions.map(({ claim, write }) => ({
              claim,
              write:
                write.due !== null && "inMs" in write.due
                  ? { ...write, due: { at: new Date(Date.now() + write.due.inMs) } }
                  : write,
            })),
          ),
      }),
  },
  {
    id: "parked-is-retried",
    description: "lets a parked entry be claimed like a retry",
    killedBy: "A14-parked-is-not-claimed",
    wrap: (driver) =>
      overrideDriver(driver, {
        complete: (completions) =>
          driver.complete(
            completions.map(({ claim, write }) => ({
              claim,
              write:
                write.kind === "failed"
                  ? { ...write, status: "retryable-failure", due: { inMs: 0 } }
                  : write,
            })),
          ),
      }),
  },
];
