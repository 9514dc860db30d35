import type { RawProbes } from "../harness/raw-probes.js";
import type { Mutant } from "./mutant.js";
import { overrideDriver } from "./override-driver.js";
import { overwrite } from "./stored-claims.js";

/** Ends every lease, as a sweep does that does not look at it. */
async function breakLease(raw: RawProbes, entryId: string): Promise<void> {
  if ((await raw.readEntry(entryId))?.claimToken == null) return;
  await overwrite(raw, entryId, { claimExpiresAt: (await raw.now()) - 1_000 });
}

/** Stores whose optional parts are wrong. */
export const facetMutants: readonly Mutant[] = [
  {
    id: "redrive-resets-the-claim-count",
    description: "starts counting claims anew on redrive",
    killedBy: "A4-claim-count-survives-redrive",
    wrap: (driver, raw) => {
      const { redrive } = driver;
      if (redrive === undefined) return driver;
      return overrideDriver(driver, {
        redrive: {
          redrive: async (filter, options) => {
            const result = await redrive.redrive(filter, options);
            for (const { entryId, status } of await raw().readEntries()) {
              if (status === "pending") await overwrite(raw(), entryId, { claimAttemptCount: 0 });
            }
            return result;
          },
        },
      });
    },
  },
  {
    id: "redrive-revives-delivered",
    description: "makes delivered entries pending again",
    killedBy: "A7-redrive-is-the-way",
    wrap: (driver, raw) => {
      const { redrive } = driver;
      if (redrive === undefined) return driver;
      return overrideDriver(driver, {
        redrive: {
          redrive: async (filter, options) => {
            const result = await redrive.redrive(filter, options);
            for (const { entryId, status } of await raw().readEntries()) {
              if (status === "delivered") await overwrite(raw(), entryId, { status: "pending" });
            }
            return result;
          },
        },
      });
    },
  },
  {
    id: "selection-breaks-leases",
    description: "marks an entry without looking whether someone holds it",
    killedBy: "A5-selection-sees-leases-as-claims-do",
    wrap: (driver, raw) => {
      const { selection } = driver;
      if (selection === undefined) return driver;
      return overrideDriver(driver, {
        selection: {
          find: (entryId) => selection.find(entryId),
          findDue: (kind, maxCount) => selection.findDue(kind, maxCount),
          save: async (read, write) => {
            await breakLease(raw(), read.entryId);
            return selection.save(read, write);
          },
        },
      });
    },
  },
  {
    id: "selection-overwrites-terminal",
    description: "marks an entry that is delivered or dead-lettered",
    killedBy: "A7-selection-path",
    wrap: (driver, raw) => {
      const { selection } = driver;
      if (selection === undefined) return driver;
      return overrideDriver(driver, {
        selection: {
          find: (entryId) => selection.find(entryId),
          findDue: (kind, maxCount) => selection.findDue(kind, maxCount),
          save: async (read, write) => {
            await overwrite(raw(), read.entryId, { status: "pending" });
            return selection.save({ ...read, status: "pending" }, write);
          },
        },
      });
    },
  },
  {
    id: "selection-mixes-kinds",
    description: "finds retries among the pending",
    killedBy: "contract-selection-path",
    wrap: (driver) => {
      const { selection } = driver;
      if (selection === undefined) return driver;
      return overrideDriver(driver, {
        selection: {
          find: (entryId) => selection.find(entryId),
          findDue: async (_kind, maxCount) => [
            ...(await selection.findDue("pending", maxCount)),
            ...(await selection.findDue("retry-ready", maxCount)),
          ],
          save: (read, write) => selection.save(read, write),
        },
      });
    },
  },
  {
    id: "purge-ignores-age",
    description: "purges terminal entries of any age",
    killedBy: "contract-retention",
    wrap: (driver) => {
      const { retention } = driver;
      if (retention === undefined) return driver;
      return overrideDriver(driver, {
        retention: {
          purge: (options) => retention.purge({ ...options, olderThanMs: 0 }),
        },
      });
    },
  },
  {
    id: "never-wakes",
    description: "accepts subscriptions and never wakes anyone",
    killedBy: "contract-wake-up",
    wrap: (driver) => {
      const { wakeUp } = driver;
      if (wakeUp === undefined) return driver;
      return overrideDriver(driver, {
        wakeUp: {
          subscribe: (listener) => wakeUp.subscribe({ ...listener, onWakeUp: () => undefined }),
        },
      });
    },
  },
  {
    id: "migrates-again",
    description: "takes a migrated schema for none",
    killedBy: "contract-schema",
    wrap: (driver) => {
      const { schema } = driver;
      if (schema === undefined) return driver;
      return overrideDriver(driver, {
        schema: {
          migrate: async () => ({ ...(await schema.migrate()), from: 0 }),
          migrationSql: (range) => schema.migrationSql(range),
          checkSchema: () => schema.checkSchema(),
          diagnose: () => schema.diagnose(),
        },
      });
    },
  },
  {
    id: "save-is-unconditional",
    description: "saves over whatever is there by now",
    killedBy: "contract-save-is-conditional",
    wrap: (driver) => {
      const { selection } = driver;
      if (selection === undefined) return driver;
      return overrideDriver(driver, {
        selection: {
          find: (entryId) => selection.find(entryId),
          findDue: (kind, maxCount) => selection.findDue(kind, maxCount),
          save: async (read, write) =>
            selection.save((await selection.find(read.entryId)) ?? read, write),
        },
      });
    },
  },
];
