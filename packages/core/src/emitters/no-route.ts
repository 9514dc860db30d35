import type { EmissionResult } from "../contract/emission-result.js";

/** How long an entry without a route waits for a worker that has one, in ms. */
const noRouteDelayMs = 60_000;

/** Uncounted: during a rolling deploy another version may have the route. `outbox.no_route` */
export function noRoute(what: string, name: string, routes: readonly string[]): EmissionResult {
  return {
    status: "deferred",
    retryAfterMs: noRouteDelayMs,
    error: {
      code: "outbox.no_route",
      message: `No route matches the ${what} ${JSON.stringify(name)} (there are: ${routes.join(", ")}). Add a route, or deploy a worker that has one; the entry waits.`,
      isRetryable: true,
    },
  };
}
