import type { EnqueueInput, EventMap } from "../contract/enqueue-input.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { requireId, requireList, requireObject } from "../validation/argument-checks.js";
import { uuidV7 } from "./uuid-v7.js";

/**
 * One envelope for several destinations: an entry each, delivered, retried and parked by itself,
 * with the same `envelopeId`. Give the result to `enqueue`, and route with `routeByDestination`.
 *
 * @throws InvalidArgumentError if `destinations` is empty or names one twice, or `input` names one
 */
export function fanOut<Events extends EventMap = EventMap>(
  input: EnqueueInput<Events>,
  destinations: readonly string[],
): readonly EnqueueInput<Events>[] {
  const given = requireObject("input", input);
  for (const key of ["destination", "entryId"]) {
    if (given[key] === undefined) continue;
    throw new InvalidArgumentError(
      `input.${key}`,
      "must be left out: fanOut makes an entry, with a destination and an id of its own, of each destination",
    );
  }
  const distinct = new Set(requireList("destinations", destinations, requireId));
  if (distinct.size < destinations.length) {
    throw new InvalidArgumentError("destinations", "must not name a destination twice");
  }
  const envelopeId = input.envelopeId ?? uuidV7();
  // The time of what happened is one, too.
  const time = input.time ?? new Date();
  return [...distinct].map((destination) => ({ ...input, envelopeId, time, destination }));
}
