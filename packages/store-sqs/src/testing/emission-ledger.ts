import type { OutboxEvent } from "@outbox/core";

/**
 * What was emitted, and every reason why an entry may have been emitted once more: a copy of its
 * message that a fault made, or an emission of which the queue was never told.
 */
export class EmissionLedger {
  readonly #emissions = new Map<string, number>();
  readonly #causes = new Map<string, string[]>();
  readonly #unconfirmed = new Map<string, number>();

  emitted(envelopeId: string): void {
    this.#emissions.set(envelopeId, (this.#emissions.get(envelopeId) ?? 0) + 1);
  }

  /** A fault that makes or leaves a copy of this entry's message. */
  copied(envelopeId: string, cause: string): void {
    this.#causes.set(envelopeId, [...(this.#causes.get(envelopeId) ?? []), cause]);
  }

  /** To be told of every event of a worker, which may hold two copies of one entry. */
  observe(event: OutboxEvent): void {
    const count = (entry: { readonly envelopeId: string }, change: number) => {
      const key = JSON.stringify([event.workerId, entry.envelopeId]);
      this.#unconfirmed.set(key, (this.#unconfirmed.get(key) ?? 0) + change);
    };
    if (event.type === "emission-end" && event.status === "delivered") {
      count(event.entry, 1);
    } else if (event.type === "transition" && event.kind === "delivered") {
      count(event.entry, -1);
      if (event.outcome !== "applied") {
        this.copied(event.entry.envelopeId, `its delivery was ${event.outcome}`);
      }
    }
  }

  get distinct(): number {
    return this.#emissions.size;
  }

  /** Surplus emissions, and those that nothing explains. */
  surplus(): {
    readonly count: number;
    readonly unexplained: readonly string[];
    readonly byCause: Readonly<Record<string, number>>;
  } {
    for (const [key, times] of this.#unconfirmed) {
      const [, envelopeId] = JSON.parse(key) as [string, string];
      for (let time = 0; time < times; time++) {
        this.copied(envelopeId, "its worker was cut off before it could say so");
      }
    }
    this.#unconfirmed.clear();
    let count = 0;
    const unexplained: string[] = [];
    const byCause: Record<string, number> = {};
    for (const [envelopeId, emissions] of this.#emissions) {
      const causes = this.#causes.get(envelopeId) ?? [];
      count += emissions - 1;
      for (const cause of causes.slice(0, emissions - 1)) {
        byCause[cause] = (byCause[cause] ?? 0) + 1;
      }
      if (emissions - 1 > causes.length) {
        unexplained.push(
          `${envelopeId}: ${emissions} emissions, causes: ${causes.join(", ") || "none"}`,
        );
      }
    }
    return { count, unexplained, byCause };
  }
}
