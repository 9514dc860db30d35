import type { WorkItem } from "./work-item.js";
import { WorkQueue } from "./work-queue.js";

/** What is claimed and not started: ordinary work, suspects, and what waits for its rate limit. */
export class WaitingWork {
  readonly #ordinary = new WorkQueue();
  readonly #suspects = new WorkQueue();
  #held: WorkItem[] = [];

  get size(): number {
    return this.#ordinary.size + this.#suspects.size + this.#held.length;
  }

  get hasSuspects(): boolean {
    return this.#suspects.size > 0;
  }

  get hasHeld(): boolean {
    return this.#held.length > 0;
  }

  add(items: readonly WorkItem[]): void {
    this.#ordinary.add(items.filter(({ isSuspect }) => !isSuspect));
    this.#suspects.add(items.filter(({ isSuspect }) => isSuspect));
  }

  /** Before everything else. */
  putBack(item: WorkItem): void {
    this.#queueOf(item.isSuspect).putBack([item]);
  }

  peek(suspects: boolean): WorkItem | undefined {
    return this.#queueOf(suspects).peek();
  }

  take(suspects: boolean): WorkItem | undefined {
    return this.#queueOf(suspects).take();
  }

  hold(item: WorkItem): void {
    this.#held.push(item);
  }

  /** Lets everything that was held try again, in its old place. */
  unhold(): void {
    this.#ordinary.putBack(this.#held);
    this.#held = [];
  }

  removeUnless(keep: (item: WorkItem) => boolean): readonly WorkItem[] {
    const held = this.#held.filter((item) => !keep(item));
    this.#held = this.#held.filter((item) => !held.includes(item));
    return [...held, ...this.#suspects.removeUnless(keep), ...this.#ordinary.removeUnless(keep)];
  }

  #queueOf(suspects: boolean): WorkQueue {
    return suspects ? this.#suspects : this.#ordinary;
  }
}
