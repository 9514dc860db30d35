import type { OutboxEvent } from "@outbox/core";

/** What an event is counted as. */
function nameOf(event: OutboxEvent): string {
  switch (event.type) {
    case "transition":
      return `transition ${event.kind} ${event.outcome}`;
    case "emission-end":
      return `emission-end ${event.status}${event.late ? " late" : ""}`;
    case "lease-lost":
      return `lease-lost ${event.reason}`;
    case "circuit":
      return `circuit ${event.state}`;
    case "suspect":
      return `suspect ${event.verdict}`;
    default:
      return event.type;
  }
}

/** Counts events by what they say. */
export class EventCounts {
  readonly counts: Record<string, number> = {};

  note(event: OutboxEvent): void {
    const name = nameOf(event);
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}
