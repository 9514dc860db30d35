import { subscribe } from "node:diagnostics_channel";
import type { OutboxEvent } from "@outbox/core";
import { tellMain, type WorkerFault } from "./messages.js";

/**
 * Imported by the worker process, so that the ledger can explain what the receiver sees twice. What
 * happens in a worker is published on `node:diagnostics_channel`; the worker's code need not know.
 */
for (const type of ["emission-end", "emission-timeout", "lease-lost", "transition"] as const) {
  subscribe(`outbox:${type}`, (message) => report(message as OutboxEvent));
}

function report(event: OutboxEvent): void {
  const type = faultOf(event);
  if (type && "entry" in event) {
    tellMain({ kind: "fault", fault: { type, envelopeId: event.entry.envelopeId } });
  }
}

function faultOf(event: OutboxEvent): WorkerFault["type"] | null {
  switch (event.type) {
    case "emission-timeout":
      return "timeout";
    case "lease-lost":
      return "lease-lost";
    case "transition":
      return event.outcome === "stale-claim" ? "lease-lost" : null;
    case "emission-end":
      return event.errorCode === "http.timeout" || event.errorCode === "http.network_error"
        ? "timeout"
        : null;
    default:
      return null;
  }
}
