import type { DriverClaim, DriverClaimBatch, OutboxEntry } from "@outbox/core";
import type { RawEntry } from "../harness/raw-probes.js";
import type { Mutant } from "./mutant.js";
import { overrideDriver } from "./override-driver.js";
import { overwrite, unstamp } from "./stored-claims.js";

const tenYearsMs = 315_360_000_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const byDueTime = (left: RawEntry, right: RawEntry): number =>
  (left.dueAt ?? 0) - (right.dueAt ?? 0);

const entriesOf = (batch: DriverClaimBatch): readonly OutboxEntry[] =>
  batch.claims.map((claim) => claim.entry);

/** Reads, thinks, writes: what an UPDATE by id after a SELECT amounts to. */
function nonAtomicClaim(id: string, killedBy: Mutant["killedBy"]): Mutant {
  return {
    id,
    description: "reads what is due, then stamps it by id in a second step",
    killedBy,
    isRace: true,
    requires: ({ facets }) =>
      facets.has("selection") ? undefined : { notRun: "it reads entries by the selection facet" },
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const now = await raw().now();
          const due = (await raw().readEntries())
            .filter((row) => row.dueAt !== null && row.dueAt <= now)
            .sort(byDueTime)
            .slice(0, command.maxCount);
          await pause(5);
          const claims: DriverClaim[] = [];
          for (const [index, { entryId, claimAttemptCount, dueAt }] of due.entries()) {
            const stamp = {
              claimOwner: command.workerId,
              claimToken: `${command.tokenPrefix}:${index}`,
            };
            const claimExpiresAt = now + command.leaseDurationMs;
            await overwrite(raw(), entryId, {
              ...stamp,
              claimedAt: now,
              claimExpiresAt,
              claimAttemptCount: claimAttemptCount + 1,
            });
            const entry = await driver.selection?.find(entryId);
            if (!entry) continue;
            claims.push({
              entry: {
                ...entry,
                ...stamp,
                claimedAt: new Date(now),
                claimExpiresAt: new Date(claimExpiresAt),
              },
              dueAt: dueAt === null ? null : new Date(dueAt),
            });
          }
          return { at: new Date(now), claims, more: "none", suspectsDue: false, cursor: null };
        },
      }),
  };
}

/** Stores that lease the wrong entries, too many of them, at the wrong time, or to two at once. */
export const claimMutants: readonly Mutant[] = [
  // The same fault, seen on one event loop, held at its worst moment, and between processes.
  nonAtomicClaim("non-atomic-claim", "A1-interleaved-claims-are-disjoint"),
  nonAtomicClaim("non-atomic-claim-gated", "A1-gated-claims-are-disjoint"),
  nonAtomicClaim("non-atomic-reclaim-gated", "A1-gated-reclaims-are-disjoint"),
  nonAtomicClaim("non-atomic-claim-in-processes", "A1-processes"),
  {
    id: "contended-looks-empty",
    description: "says `none` when others won everything that was due",
    killedBy: "A1-contended-is-not-empty",
    wrap: (driver) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const batch = await driver.claim(command);
          return { ...batch, more: batch.more === "contended" ? "none" : batch.more };
        },
      }),
  },
  {
    id: "over-claim",
    description: "claims twice as many entries as asked for",
    killedBy: "A2-max-count",
    wrap: (driver) =>
      overrideDriver(driver, {
        claim: (command) => driver.claim({ ...command, maxCount: command.maxCount * 2 }),
      }),
  },
  {
    id: "over-stamp",
    description: "stamps one entry more than it returns",
    killedBy: "A2-never-stamped-beyond",
    wrap: (driver) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const batch = await driver.claim({ ...command, maxCount: command.maxCount + 1 });
          return { ...batch, claims: batch.claims.slice(0, command.maxCount) };
        },
      }),
  },
  {
    id: "no-byte-bound",
    description: "ignores maxBytes",
    killedBy: "A2-longest-prefix",
    wrap: (driver) =>
      overrideDriver(driver, { claim: (command) => driver.claim({ ...command, maxBytes: null }) }),
  },
  {
    id: "big-skipped-for-small",
    description: "fills the byte bound with small entries from behind a big one",
    killedBy: "A2-big-is-not-skipped",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const before = new Map((await raw().readEntries()).map((row) => [row.entryId, row]));
          const batch = await driver.claim({ ...command, maxBytes: null });
          let bytes = 0;
          const claims: DriverClaim[] = [];
          for (const claim of batch.claims) {
            const { entry } = claim;
            const fits =
              command.maxBytes === null || bytes + entry.payloadBytes <= command.maxBytes;
            const row = before.get(entry.entryId);
            if (fits) {
              bytes += entry.payloadBytes;
              claims.push(claim);
            } else if (row !== undefined) await unstamp(raw(), row);
          }
          return { ...batch, claims };
        },
      }),
  },
  {
    id: "returned-backwards",
    description: "returns a batch in the opposite of due order",
    killedBy: "A3-returned-order",
    wrap: (driver) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const batch = await driver.claim(command);
          return { ...batch, claims: [...batch.claims].reverse() };
        },
      }),
  },
  {
    id: "newest-first",
    description: "claims the youngest due entries instead of the oldest",
    killedBy: "A3-lone-claimer-first-n",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const before = new Map((await raw().readEntries()).map((row) => [row.entryId, row]));
          const batch = await driver.claim({ ...command, maxCount: 1_000 });
          for (const { entry } of batch.claims.slice(0, -command.maxCount)) {
            const row = before.get(entry.entryId);
            if (row !== undefined) await unstamp(raw(), row);
          }
          return { ...batch, claims: batch.claims.slice(-command.maxCount) };
        },
      }),
  },
  {
    id: "claim-not-counted",
    description: "stamps owner and token without counting the claim",
    killedBy: "A4-stamp",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const batch = await driver.claim(command);
          for (const { entryId, claimAttemptCount } of entriesOf(batch)) {
            await overwrite(raw(), entryId, { claimAttemptCount: claimAttemptCount - 1 });
          }
          return batch;
        },
      }),
  },
  {
    id: "owner-not-stored",
    description: "returns the owner without storing it",
    killedBy: "A4-stamp",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const batch = await driver.claim(command);
          for (const { entryId } of entriesOf(batch)) {
            await overwrite(raw(), entryId, { claimOwner: "someone" });
          }
          return batch;
        },
      }),
  },
  {
    id: "one-token-per-worker",
    description: "reuses a worker's token for every claim",
    killedBy: "A4-tokens-are-unique",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const batch = await driver.claim(command);
          const claimToken = `token of ${command.workerId}`;
          for (const { entryId } of entriesOf(batch))
            await overwrite(raw(), entryId, { claimToken });
          return {
            ...batch,
            claims: batch.claims.map(({ entry, dueAt }) => ({
              entry: { ...entry, claimToken },
              dueAt,
            })),
          };
        },
      }),
  },
  {
    id: "live-lease-ignored",
    description: "claims what another holds under a live lease",
    killedBy: "A5-live-lease-blocks",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const claimExpiresAt = (await raw().now()) - 1_000;
          for (const row of await raw().readEntries()) {
            if (row.claimToken !== null) await overwrite(raw(), row.entryId, { claimExpiresAt });
          }
          return driver.claim(command);
        },
      }),
  },
  {
    id: "lease-never-expires",
    description: "writes leases that no one outlives",
    killedBy: "A5-expired-lease-blocks-nobody",
    wrap: (driver) =>
      overrideDriver(driver, {
        claim: (command) => driver.claim({ ...command, leaseDurationMs: tenYearsMs }),
      }),
  },
  {
    id: "abandoned-not-counted",
    description: "re-claims an expired lease as if it had been released",
    killedBy: "A5-expired-lease-blocks-nobody",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const batch = await driver.claim(command);
          for (const { entryId } of entriesOf(batch)) {
            await overwrite(raw(), entryId, { abandonedClaimCount: 0 });
          }
          return batch;
        },
      }),
  },
  {
    id: "terminal-swept-back",
    description: "takes an old terminal entry for a stuck one and sets it going again",
    killedBy: "A7-never-claimed",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const now = await raw().now();
          for (const { entryId, status, updatedAt } of await raw().readEntries()) {
            const isTerminal = status === "delivered" || status === "dead-lettered";
            if (!isTerminal || updatedAt > now - command.leaseDurationMs) continue;
            await overwrite(raw(), entryId, { status: "pending" });
          }
          return driver.claim(command);
        },
      }),
  },
  {
    id: "claim-replay-ignored",
    description: "does not find a claim again by its claimId",
    killedBy: "A9-claim-replay",
    wrap: (driver) =>
      overrideDriver(driver, { claim: (command) => driver.claim({ ...command, claimId: null }) }),
  },
  {
    id: "claim-lost-on-arrival",
    description: "takes an entry out of the outbox when it is claimed (at most once)",
    killedBy: "A11-closed-with-leases",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const batch = await driver.claim(command);
          for (const { entryId } of entriesOf(batch)) {
            await overwrite(raw(), entryId, { status: "failed", claimExpiresAt: null });
          }
          return batch;
        },
      }),
  },
  {
    id: "outage-looks-empty",
    description: "says that nothing is due when it cannot reach the database",
    killedBy: "A11-connections-cut",
    wrap: (driver) =>
      overrideDriver(driver, {
        claim: (command) =>
          driver.claim(command).catch(() => ({
            at: new Date(),
            claims: [],
            more: "none" as const,
            suspectsDue: false,
            cursor: null,
          })),
      }),
  },
  {
    id: "host-clock-lease",
    description: "ends leases by the host's clock instead of the store's",
    killedBy: "A12-skewed-claimer",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const skewMs = Date.now() - (await raw().now());
          const leaseDurationMs = Math.max(1, command.leaseDurationMs + skewMs);
          return driver.claim({ ...command, leaseDurationMs });
        },
      }),
  },
  {
    id: "host-clock-judgement",
    description: "judges by the host's clock whether a lease has expired",
    killedBy: "A12-skewed-judgement",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const now = Date.now();
          const claimExpiresAt = (await raw().now()) - 1_000;
          for (const row of await raw().readEntries()) {
            if (row.claimExpiresAt !== null && row.claimExpiresAt <= now) {
              await overwrite(raw(), row.entryId, { claimExpiresAt });
            }
          }
          return driver.claim(command);
        },
      }),
  },
  {
    id: "retries-after-pending",
    description: "claims retries only when no pending entry is due",
    killedBy: "A15-one-due-order",
    wrap: (driver) =>
      overrideDriver(driver, {
        claim: async (command) => {
          if (command.kind !== "any") return driver.claim(command);
          const pending = await driver.claim({ ...command, kind: "pending" });
          const maxCount = command.maxCount - pending.claims.length;
          if (maxCount === 0) return pending;
          const retries = await driver.claim({ ...command, kind: "retry-ready", maxCount });
          return { ...retries, claims: [...pending.claims, ...retries.claims] };
        },
      }),
  },
  {
    id: "types-filtered-after-the-bound",
    description: "takes the first n and then looks at their types",
    killedBy: "A15-other-types-ahead",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const before = new Map((await raw().readEntries()).map((row) => [row.entryId, row]));
          const batch = await driver.claim({ ...command, types: null });
          const { types } = command;
          if (types === null) return batch;
          const isWanted = ({
            entry: {
              envelope: { type },
            },
          }: DriverClaim) =>
            types.exact.includes(type) || types.prefixes.some((prefix) => type.startsWith(prefix));
          for (const claim of batch.claims) {
            const row = before.get(claim.entry.entryId);
            if (!isWanted(claim) && row !== undefined) await unstamp(raw(), row);
          }
          return { ...batch, claims: batch.claims.filter(isWanted) };
        },
      }),
  },
  {
    id: "suspects-not-left-out",
    description: "claims suspects among the rest although they were to be left out",
    killedBy: "A15-suspects-ahead",
    wrap: (driver) =>
      overrideDriver(driver, {
        claim: (command) =>
          driver.claim({
            ...command,
            suspects: command.suspects === "exclude" ? "include" : command.suspects,
          }),
      }),
  },
  {
    id: "solo-mark-not-stored",
    description: "claims a suspect alone without remembering it",
    killedBy: "A16-solo-crashes-are-counted",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const batch = await driver.claim(command);
          for (const { entryId } of entriesOf(batch)) {
            await overwrite(raw(), entryId, { soloClaim: false });
          }
          return batch;
        },
      }),
  },
  {
    id: "suspects-of-others",
    description: "says that suspects are due without looking at their types",
    killedBy: "A16-suspects-due-is-for-this-claim",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const now = await raw().now();
          const suspectsDue = (await raw().readEntries()).some(
            ({ claimToken, dueAt }) => claimToken !== null && dueAt !== null && dueAt <= now,
          );
          return { ...(await driver.claim(command)), suspectsDue };
        },
      }),
  },
  {
    id: "suspects-joined",
    description: "fills a claim of suspects up when it is repeated",
    killedBy: "A16-replayed-suspects-stay-alone",
    wrap: (driver) => {
      const seen = new Set<string | null>([null]);
      return overrideDriver(driver, {
        claim: async (command) => {
          const batch = await driver.claim(command);
          if (!seen.has(command.claimId)) {
            seen.add(command.claimId);
            return batch;
          }
          const more = await driver.claim({ ...command, claimId: null });
          return { ...batch, claims: [...batch.claims, ...more.claims] };
        },
      });
    },
  },
  {
    id: "early-claim",
    description: "claims entries before they are due",
    killedBy: "A18-not-before-its-time",
    wrap: (driver, raw) =>
      overrideDriver(driver, {
        claim: async (command) => {
          const now = await raw().now();
          for (const row of await raw().readEntries()) {
            if (row.claimToken !== null || row.dueAt === null || row.dueAt <= now) continue;
            const due =
              row.status === "pending"
                ? { availableAt: now - 1_000 }
                : { nextRetryAt: now - 1_000 };
            await overwrite(raw(), row.entryId, due);
          }
          return driver.claim(command);
        },
      }),
  },
];
