import type { Emitter, EmitterLike } from "../contract/emitter.js";
import { resolveEmitter } from "../drain/resolve-emitter.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { requireId, requireObject } from "../validation/argument-checks.js";

/** How long an entry without a route waits for a worker that has one, in ms. */
const noRouteDelayMs = 60_000;

/**
 * An emitter that chooses by the entry's destination, as `fanOut` gives it. An entry without a
 * route is deferred for a minute, uncounted: another version may have one (`outbox.no_route`).
 * Circuits and rate limits are per destination.
 *
 * @throws InvalidArgumentError naming the destination that has no emitter
 */
export function routeByDestination(routes: Readonly<Record<string, EmitterLike>>): Emitter {
  const emitters = new Map<string, Emitter>();
  for (const [destination, emitter] of Object.entries(requireObject("routes", routes))) {
    requireId("a destination in routes", destination);
    emitters.set(destination, resolveEmitter(`routes[${JSON.stringify(destination)}]`, emitter));
  }
  if (emitters.size === 0) {
    throw new InvalidArgumentError("routes", "must not be empty; name a destination");
  }
  const destinations = [...emitters.keys()];
  return {
    emit(envelope, context) {
      const { destination } = context.entry;
      const emitter = emitters.get(destination);
      if (emitter !== undefined) return emitter.emit(envelope, context);
      return {
        status: "deferred",
        retryAfterMs: noRouteDelayMs,
        error: {
          code: "outbox.no_route",
          message: `No route for the destination ${JSON.stringify(destination)} (there are: ${destinations.join(", ")}). Add one, or deploy a worker that has it; the entry waits.`,
          isRetryable: true,
        },
      };
    },
    routeOf: ({ destination }) => destination,
  };
}
