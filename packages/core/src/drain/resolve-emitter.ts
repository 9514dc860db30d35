import type { Emitter } from "../contract/emitter.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import {
  describeValue,
  requireFunction,
  requireId,
  requireInteger,
  requireList,
} from "../validation/argument-checks.js";

/** Most members of a batch, where the emitter does not say. */
export const defaultMaxBatchSize = 100;

/** A plain function or an emitter, as an emitter whose methods need no `this`. */
export function resolveEmitter(argument: string, emitter: unknown): Emitter {
  if (typeof emitter === "function") return { emit: emitter as Emitter["emit"] };
  if (typeof emitter !== "object" || emitter === null || !("emit" in emitter)) {
    throw new InvalidArgumentError(
      argument,
      `must be an async function (envelope, context) or an object with emit, not ${describeValue(emitter)}`,
    );
  }
  const given = emitter as Emitter;
  requireFunction(`${argument}.emit`, given.emit);
  if (given.emitBatch !== undefined) requireFunction(`${argument}.emitBatch`, given.emitBatch);
  if (given.routeOf !== undefined) requireFunction(`${argument}.routeOf`, given.routeOf);
  if (given.routes !== undefined) requireList(`${argument}.routes`, given.routes, requireId);
  if (given.maxBatchSize !== undefined) {
    requireInteger(`${argument}.maxBatchSize`, given.maxBatchSize, { min: 1, max: 100_000 });
  }
  return {
    emit: (envelope, context) => given.emit(envelope, context),
    emitBatch: given.emitBatch && ((batch) => given.emitBatch?.(batch) ?? []),
    maxBatchSize: given.maxBatchSize,
    types: given.types,
    routes: given.routes,
    ...(given.routeOf === undefined
      ? {}
      : { routeOf: (entry) => given.routeOf?.(entry) ?? defaultRoute }),
  };
}

/** The route of an emitter that names none. */
export const defaultRoute = "default";
