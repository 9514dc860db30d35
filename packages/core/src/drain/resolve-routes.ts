import type { Emitter } from "../contract/emitter.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import {
  describeValue,
  refuseUnknownKeys,
  requireDurationMs,
  requireInteger,
  requireObject,
} from "../validation/argument-checks.js";
import type { CircuitOptions } from "./circuit.js";
import { circuitDefaults, type DrainOptions } from "./drain-options.js";
import type { RateLimit } from "./rate-limit.js";
import { defaultRoute } from "./resolve-emitter.js";
import type { RouteControlOptions } from "./route-control.js";

/** Circuits and rate limits, for the routes that the emitter names. */
export function resolveRoutes(
  options: Pick<DrainOptions, "circuit" | "rateLimits">,
  emitter: Emitter,
  types: readonly string[] | null,
): RouteControlOptions {
  const { routeOf } = emitter;
  const routes = routeOf === undefined ? [defaultRoute] : (emitter.routes ?? null);
  return {
    routeOf: routeOf === undefined ? () => defaultRoute : guardedRouteOf(routeOf),
    routes,
    // A claim can leave out a route only if it names exactly the routes.
    routesAreTypes: types !== null && routes !== null && types.join("\n") === routes.join("\n"),
    circuit: resolveCircuit(options.circuit),
    rateLimits: resolveRateLimits(options.rateLimits, routes),
  };
}

/** A broken `routeOf` must not keep an entry from being emitted. */
function guardedRouteOf(routeOf: NonNullable<Emitter["routeOf"]>) {
  return (entry: OutboxEntry): string => {
    try {
      return String(routeOf(entry));
    } catch {
      return defaultRoute;
    }
  };
}

function resolveCircuit(given: DrainOptions["circuit"]): CircuitOptions | null {
  if (given === false) return null;
  const settings = given ?? {};
  refuseUnknownKeys(
    "options.circuit",
    requireObject("options.circuit", settings),
    Object.keys(circuitDefaults),
  );
  const duration = (key: "firstProbeMs" | "longestProbeMs") =>
    requireDurationMs(`options.circuit.${key}`, settings[key] ?? circuitDefaults[key], { min: 1 });
  const firstProbeMs = duration("firstProbeMs");
  const longestProbeMs =
    settings.longestProbeMs === undefined
      ? Math.max(firstProbeMs, circuitDefaults.longestProbeMs)
      : duration("longestProbeMs");
  if (longestProbeMs < firstProbeMs) {
    throw new InvalidArgumentError(
      "options.circuit.longestProbeMs",
      `must not be shorter than firstProbeMs (${firstProbeMs}), not ${longestProbeMs}`,
    );
  }
  const openAfter = requireInteger(
    "options.circuit.openAfter",
    settings.openAfter ?? circuitDefaults.openAfter,
    { min: 1, max: 1_000_000 },
  );
  return { openAfter, firstProbeMs, longestProbeMs };
}

function resolveRateLimits(
  given: DrainOptions["rateLimits"],
  routes: readonly string[] | null,
): Readonly<Record<string, RateLimit>> {
  if (given === undefined) return {};
  const limits = Object.entries(requireObject("options.rateLimits", given));
  for (const [route, limit] of limits) {
    const argument = `options.rateLimits[${JSON.stringify(route)}]`;
    if (routes !== null && !routes.includes(route)) {
      throw new InvalidArgumentError(
        argument,
        `is no route of the emitter; there are: ${routes.join(", ")}`,
      );
    }
    refuseUnknownKeys(argument, requireObject(argument, limit), ["perSecond", "burst"]);
    const { perSecond, burst } = limit as RateLimit;
    if (typeof perSecond !== "number" || !(perSecond > 0 && perSecond <= 1_000_000)) {
      throw new InvalidArgumentError(
        `${argument}.perSecond`,
        `must be a number above 0, at most 1000000, not ${describeValue(perSecond)}`,
      );
    }
    if (burst !== undefined) {
      requireInteger(`${argument}.burst`, burst, { min: 1, max: 1_000_000 });
    }
  }
  return given;
}
