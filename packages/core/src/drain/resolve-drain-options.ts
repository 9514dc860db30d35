import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Emit, EmitBatch } from "../contract/emitter.js";
import type { OutboxClaimStore } from "../contract/outbox-claim-store.js";
import type { OutboxStore } from "../contract/outbox-store.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import {
  refuseUnknownKeys,
  requireBoolean,
  requireDurationMs,
  requireFunction,
  requireId,
  requireInteger,
  requireObject,
} from "../validation/argument-checks.js";
import { largestClaim, resolveLeaseDurationMs } from "../validation/resolve-claim-request.js";
import { parseTypePatterns } from "../validation/type-patterns.js";
import { type DrainOptions, drainDefaults, retryForMsWithoutCounters } from "./drain-options.js";
import { type OutboxLogger, silentLogger } from "./outbox-logger.js";
import { defaultMaxBatchSize, resolveEmitter } from "./resolve-emitter.js";
import { resolveRoutes } from "./resolve-routes.js";
import type { RouteControlOptions } from "./route-control.js";

/** Where a drain gets its work: decided once, so that nothing later has to ask. */
export type DrainStore =
  | { readonly kind: "claims"; readonly store: OutboxClaimStore }
  | { readonly kind: "selection"; readonly store: OutboxStore };

type Settled = {
  readonly [Key in Exclude<
    keyof DrainOptions,
    | "store"
    | "emitter"
    | "types"
    | "retryForMs"
    | "retryDelay"
    | "observer"
    | "circuit"
    | "rateLimits"
  >]-?: NonNullable<DrainOptions[Key]>;
};

/** `DrainOptions`, checked and complete. */
export interface ResolvedDrainOptions extends Settled {
  readonly store: DrainStore;
  readonly emit: Emit;
  /** `null`: the emitter takes no batches. */
  readonly emitBatch: EmitBatch | null;
  readonly maxEmitBatch: number;
  readonly routes: RouteControlOptions;
  readonly types: readonly string[] | null;
  readonly retryForMs: number | null;
  readonly retryDelay: NonNullable<DrainOptions["retryDelay"]> | null;
  readonly observer: DrainOptions["observer"];
  readonly logger: OutboxLogger;
}

export const drainOptionKeys = [
  "store",
  "emitter",
  "workerId",
  "useClaimLeases",
  "leaseDurationMs",
  "leaseMarginMs",
  "batchSize",
  "maxBatchBytes",
  "emitConcurrency",
  "emitTimeoutMs",
  "types",
  "maxRetryAttempts",
  "deadLetterOnMaxRetryAttempts",
  "deadLetterReasonCode",
  "retryForMs",
  "retryDelayMs",
  "maxRetryDelayMs",
  "retryDelay",
  "deferredDelayMs",
  "pollIntervalMs",
  "maxUnfinalized",
  "circuit",
  "rateLimits",
  "observer",
  "logger",
] as const satisfies readonly (keyof DrainOptions)[];

/** Checks the options and fills in the defaults. */
export function resolveDrainOptions(
  options: DrainOptions,
  furtherKeys: readonly string[] = [],
): ResolvedDrainOptions {
  const given = requireObject("options", options);
  refuseUnknownKeys("options", given, [...drainOptionKeys, ...furtherKeys]);
  const integer = (
    key: "batchSize" | "maxBatchBytes" | "emitConcurrency" | "maxRetryAttempts" | "maxUnfinalized",
    max: number,
  ) =>
    requireInteger(`options.${key}`, orDefault(options[key], drainDefaults[key]), { min: 1, max });
  const duration = (
    key:
      | "emitTimeoutMs"
      | "retryDelayMs"
      | "maxRetryDelayMs"
      | "deferredDelayMs"
      | "pollIntervalMs",
    min: number,
  ) => requireDurationMs(`options.${key}`, orDefault(options[key], drainDefaults[key]), { min });

  const useClaimLeases = requireBoolean(
    "options.useClaimLeases",
    orDefault(options.useClaimLeases, drainDefaults.useClaimLeases),
  );
  const store = resolveStore(options.store, useClaimLeases);
  const capabilities = store.kind === "claims" ? store.store.capabilities : null;
  const maxLeaseMs = capabilities?.maxLeaseMs ?? null;
  const leaseDurationMs = resolveLeaseDurationMs(
    "options.leaseDurationMs",
    orDefault(
      options.leaseDurationMs,
      Math.min(drainDefaults.leaseDurationMs, maxLeaseMs ?? Number.POSITIVE_INFINITY),
    ),
    { maxLeaseMs },
  );
  const emitter = resolveEmitter("options.emitter", options.emitter);
  const types = resolveTypes(
    orDefault(options.types, emitter.types),
    options.types !== undefined,
    capabilities,
  );
  return {
    store,
    emit: emitter.emit,
    emitBatch: emitter.emitBatch ?? null,
    maxEmitBatch: emitter.maxBatchSize ?? defaultMaxBatchSize,
    routes: resolveRoutes(options, emitter, types),
    types,
    workerId:
      options.workerId === undefined
        ? newWorkerId()
        : requireId("options.workerId", options.workerId),
    useClaimLeases,
    leaseDurationMs,
    leaseMarginMs: resolveMargin(options.leaseMarginMs, leaseDurationMs),
    batchSize: Math.min(
      integer("batchSize", largestClaim),
      capabilities?.maxClaimCount ?? largestClaim,
    ),
    maxBatchBytes: integer("maxBatchBytes", Number.MAX_SAFE_INTEGER),
    emitConcurrency: integer("emitConcurrency", 100_000),
    emitTimeoutMs: duration("emitTimeoutMs", 1),
    maxRetryAttempts: integer("maxRetryAttempts", 1_000_000),
    deadLetterOnMaxRetryAttempts: requireBoolean(
      "options.deadLetterOnMaxRetryAttempts",
      orDefault(options.deadLetterOnMaxRetryAttempts, drainDefaults.deadLetterOnMaxRetryAttempts),
    ),
    deadLetterReasonCode: requireId(
      "options.deadLetterReasonCode",
      orDefault(options.deadLetterReasonCode, drainDefaults.deadLetterReasonCode),
    ),
    retryForMs: resolveRetryFor(options, capabilities?.counters ?? "exact"),
    retryDelayMs: duration("retryDelayMs", 1),
    maxRetryDelayMs: duration("maxRetryDelayMs", 0),
    retryDelay: resolveCallback("options.retryDelay", options.retryDelay) ?? null,
    deferredDelayMs: duration("deferredDelayMs", 1),
    pollIntervalMs: duration("pollIntervalMs", 1),
    maxUnfinalized: integer("maxUnfinalized", 10_000_000),
    observer: resolveCallback("options.observer", options.observer),
    logger: resolveLogger(options.logger),
  };
}

/** Only `undefined` is "not given": a `null` is more likely a mistake than a wish. */
function orDefault<Value, Default>(value: Value | undefined, defaultValue: Default) {
  return value === undefined ? defaultValue : value;
}

function resolveStore(store: unknown, useClaimLeases: boolean): DrainStore {
  const given = requireObject("options.store", store);
  if (!useClaimLeases) {
    if (typeof given["findPending"] === "function") {
      return { kind: "selection", store: store as OutboxStore };
    }
    throw new InvalidArgumentError(
      "options.store",
      "cannot select entries (no findPending), which useClaimLeases: false needs; leave useClaimLeases out",
    );
  }
  if (typeof given["completeClaims"] === "function") {
    requireObject("options.store.capabilities", given["capabilities"]);
    return { kind: "claims", store: store as OutboxClaimStore };
  }
  throw new InvalidArgumentError(
    "options.store",
    "cannot claim entries (no completeClaims); use a claim store, or say { useClaimLeases: false } and run one worker or disjoint partitions, because without claims two workers emit the same entry",
  );
}

function resolveTypes(
  types: readonly string[] | undefined,
  wasAsked: boolean,
  capabilities: OutboxClaimStore["capabilities"] | null,
): readonly string[] | null {
  if (types === undefined) return null;
  parseTypePatterns("options.types", types);
  if (capabilities?.typeFilter === "in-claim") return types;
  if (!wasAsked) return null;
  throw new InvalidArgumentError(
    "options.types",
    "cannot be used here: this store, or selection without claims, cannot filter by type; leave it out and defer what cannot be emitted",
  );
}

function resolveMargin(given: number | undefined, leaseDurationMs: number): number {
  const margin = requireDurationMs(
    "options.leaseMarginMs",
    orDefault(
      given,
      Math.min(Math.floor(leaseDurationMs / 2), Math.max(1_000, leaseDurationMs / 10)),
    ),
  );
  if (margin < leaseDurationMs) return margin;
  throw new InvalidArgumentError(
    "options.leaseMarginMs",
    `must be shorter than the lease (${leaseDurationMs} ms), not ${margin}; otherwise nothing is ever emitted`,
  );
}

function resolveRetryFor(options: DrainOptions, counters: "exact" | "upper-bound"): number | null {
  if (options.retryForMs !== undefined) {
    return requireDurationMs("options.retryForMs", options.retryForMs, { min: 1 });
  }
  return counters === "exact" ? null : retryForMsWithoutCounters;
}

function resolveCallback<Callback>(argument: string, callback: Callback | undefined) {
  if (callback !== undefined) requireFunction(argument, callback);
  return callback;
}

function resolveLogger(logger: OutboxLogger | undefined): OutboxLogger {
  if (logger === undefined) return silentLogger;
  const given = requireObject("options.logger", logger);
  for (const level of ["debug", "info", "warn", "error"]) {
    requireFunction(`options.logger.${level}`, given[level]);
  }
  return logger;
}

function newWorkerId(): string {
  return `${hostname().slice(0, 200)}-${process.pid}-${randomBytes(4).toString("hex")}`;
}
