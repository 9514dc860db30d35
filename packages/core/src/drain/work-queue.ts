import type { WorkItem } from "./work-item.js";

/** First in, first out, without moving the rest at each take. */
export class WorkQueue {
  #items: WorkItem[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  add(items: readonly WorkItem[]): void {
    this.#items = this.#items.slice(this.#head).concat(items);
    this.#head = 0;
  }

  putBack(items: readonly WorkItem[]): void {
    this.#items = items.concat(this.#items.slice(this.#head));
    this.#head = 0;
  }

  peek(): WorkItem | undefined {
    return this.#items[this.#head];
  }

  take(): WorkItem | undefined {
    const item = this.#items[this.#head];
    if (item !== undefined) this.#head += 1;
    return item;
  }

  /** Takes out everything that does not satisfy the condition. */
  removeUnless(keep: (item: WorkItem) => boolean): readonly WorkItem[] {
    const kept: WorkItem[] = [];
    const removed: WorkItem[] = [];
    for (const item of this.#items.slice(this.#head)) (keep(item) ? kept : removed).push(item);
    this.#items = kept;
    this.#head = 0;
    return removed;
  }
}
