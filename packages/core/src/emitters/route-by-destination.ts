import type { Emitter, EmitterLike } from "../contract/emitter.js";
import { resolveEmitter } from "../drain/resolve-emitter.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { requireId, requireObject } from "../validation/argument-checks.js";
import { noRoute } from "./no-route.js";

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
      return emitter === undefined
        ? noRoute("destination", destination, destinations)
        : emitter.emit(envelope, context);
    },
    routeOf: ({ destination }) => destination,
  };
}
