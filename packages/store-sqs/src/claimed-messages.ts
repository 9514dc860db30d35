import { claimTokenOf, type ReceivedEntry } from "./received-message.js";

interface Claimed {
  readonly received: ReceivedEntry;
  deadlineMs: number;
}

/**
 * What was handed out as a claim, by token, while its lease lasts: a transition sends the message
 * anew from it. A claim that is not here is finished all the same, from what the caller has.
 */
export class ClaimedMessages {
  readonly #claimed = new Map<string, Claimed>();

  get size(): number {
    return this.#claimed.size;
  }

  add(received: ReceivedEntry): void {
    const deadlineMs = received.leasedAtMs + received.leaseDurationMs;
    this.#claimed.set(claimTokenOf(received), { received, deadlineMs });
  }

  get(claimToken: string): ReceivedEntry | undefined {
    return this.#claimed.get(claimToken)?.received;
  }

  renewed(claimToken: string, deadlineMs: number): void {
    const claimed = this.#claimed.get(claimToken);
    if (claimed !== undefined) claimed.deadlineMs = deadlineMs;
  }

  delete(claimToken: string): void {
    this.#claimed.delete(claimToken);
  }

  /** Forgets what nobody finished: payloads of lost leases must not pile up. */
  prune(nowMs: number): void {
    for (const [claimToken, { deadlineMs }] of this.#claimed) {
      if (deadlineMs <= nowMs) this.#claimed.delete(claimToken);
    }
  }
}
