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
