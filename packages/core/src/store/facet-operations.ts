import type {
  InspectionFacet,
  RedriveFacet,
  RetentionFacet,
  SchemaFacet,
  WakeUpFacet,
} from "../contract/facets.js";
import type { InspectionDriver, RedriveDriver, RetentionDriver } from "../contract/store-driver.js";
import { storableText } from "../entry/storable-text.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import {
  describeValue,
  refuseUnknownKeys,
  requireBoolean,
  requireDurationMs,
  requireFunction,
  requireId,
  requireInteger,
  requireList,
  requireObject,
  requireOneOf,
  requireString,
} from "../validation/argument-checks.js";
import { requireCursor } from "../validation/resolve-claim-request.js";
import { resolveEntryFilter } from "../validation/resolve-entry-filter.js";
import type { StoreCalls } from "./store-calls.js";

export function inspectionOperations(
  inspection: InspectionDriver,
  calls: StoreCalls,
): InspectionFacet {
  return {
    list: async (filter, options = {}) => {
      const resolved = resolveEntryFilter("filter", filter);
      refuseUnknownKeys("options", requireObject("options", options), ["maxCount", "after"]);
      const { maxCount = 100 } = options;
      requireInteger("options.maxCount", maxCount, { min: 1, max: 1_000 });
      const after =
        options.after === undefined ? null : requireCursor("options.after", options.after);
      return calls.run("list", "always", () => inspection.list(resolved, { maxCount, after }));
    },
    show: async (entryId) => {
      requireId("entryId", entryId);
      return calls.run("show", "always", () => inspection.show(entryId));
    },
    stats: async (options = {}) => {
      refuseUnknownKeys("options", requireObject("options", options), ["exact"]);
      const { exact = false } = options;
      requireBoolean("options.exact", exact);
      return calls.run("stats", "always", () => inspection.stats({ exact }));
    },
  };
}

export function redriveOperations(redrive: RedriveDriver, calls: StoreCalls): RedriveFacet {
  return {
    redrive: async (filter, options = {}) => {
      const resolved = resolveEntryFilter("filter", filter);
      refuseUnknownKeys("options", requireObject("options", options), ["by", "reason", "dryRun"]);
      const by = options.by === undefined ? null : requireId("options.by", options.by);
      const reason =
        options.reason === undefined
          ? null
          : storableText(requireString("options.reason", options.reason));
      const { dryRun = false } = options;
      requireBoolean("options.dryRun", dryRun);
      return calls.run("redrive", "if-not-applied", () =>
        redrive.redrive(resolved, { by, reason, dryRun }),
      );
    },
  };
}

export function retentionOperations(retention: RetentionDriver, calls: StoreCalls): RetentionFacet {
  return {
    purge: async (options) => {
      refuseUnknownKeys("options", requireObject("options", options), [
        "status",
        "olderThanMs",
        "batchSize",
        "dryRun",
        "signal",
      ]);
      const statuses = requireList(
        "options.status",
        Array.isArray(options.status) ? options.status : [options.status],
        (argument, value) => requireOneOf(argument, value, ["delivered", "dead-lettered"]),
      );
      const olderThanMs = requireDurationMs("options.olderThanMs", options.olderThanMs);
      const { batchSize = 1_000, dryRun = false } = options;
      requireInteger("options.batchSize", batchSize, { min: 1, max: 10_000 });
      requireBoolean("options.dryRun", dryRun);
      if (options.signal !== undefined && !(options.signal instanceof AbortSignal)) {
        throw new InvalidArgumentError(
          "options.signal",
          `must be an AbortSignal, not ${describeValue(options.signal)}`,
        );
      }
      const signal = options.signal ?? null;
      return calls.run("purge", "if-not-applied", () =>
        retention.purge({ statuses, olderThanMs, batchSize, dryRun, signal }),
      );
    },
  };
}

export function schemaOperations(schema: SchemaFacet, calls: StoreCalls): SchemaFacet {
  return {
    migrate: () => calls.run("migrate", "if-not-applied", () => schema.migrate()),
    // Which versions there are is the driver's knowledge.
    migrationSql: (range = {}) => {
      refuseUnknownKeys("range", requireObject("range", range), ["from", "to"]);
      return schema.migrationSql(range);
    },
    checkSchema: () => calls.run("checkSchema", "always", () => schema.checkSchema()),
    diagnose: () => calls.run("diagnose", "always", () => schema.diagnose()),
  };
}

export function wakeUpOperations(wakeUp: WakeUpFacet, calls: StoreCalls): WakeUpFacet {
  return {
    subscribe: async (listener) => {
      requireFunction("listener.onWakeUp", requireObject("listener", listener)["onWakeUp"]);
      return calls.run("subscribe", "never", () => wakeUp.subscribe(listener));
    },
  };
}
