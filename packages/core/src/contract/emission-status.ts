/**
 * Where an entry stands towards its provider.
 *
 * There is no "claimed" status: a claim is a lease over an entry, kept in separate fields, and
 * says nothing about what the provider has seen.
 *
 * - `pending`: never emitted, or released unemitted
 * - `retryable-failure`: an emission failed and will be tried again when due
 * - `deferred`: postponed without a failure (the provider asked, or no one here can emit it yet)
 * - `failed`: parked; waits for an operator's redrive and is never claimed by itself
 * - `delivered`, `dead-lettered`: terminal; only an explicit redrive leaves `dead-lettered`
 */
export type EmissionStatus =
  | "pending"
  | "delivered"
  | "deferred"
  | "failed"
  | "retryable-failure"
  | "dead-lettered";

/** Statuses that change by no path but an explicit redrive. */
export type TerminalStatus = "delivered" | "dead-lettered";
