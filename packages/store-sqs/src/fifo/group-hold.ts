import { claimTokenOf, type ReceivedEntry } from "../received-message.js";

interface Group {
  /** Token of the member that is in somebody's hands; `null` between two. */
  head: { readonly token: string; deadlineMs: number } | null;
  /** Received with or after it, in order. */
  readonly waiting: ReceivedEntry[];
}

/**
 * Hands out one member of a message group at a time. SQS gives several at once to one receiver; if
 * the first fails, the later ones must not have been emitted.
 */
export class GroupHold {
  readonly #groups = new Map<string, Group>();
  #ready: ReceivedEntry[] = [];
  #wake: (() => void)[] = [];

  /** Members that are received and not in anybody's hands. */
  get size(): number {
    let waiting = 0;
    for (const group of this.#groups.values()) waiting += group.waiting.length;
    return this.#ready.length + waiting;
  }

  /** Takes in what was received, in the order of the receive. */
  add(received: readonly ReceivedEntry[]): void {
    for (const one of received) {
      const group = this.#groupOf(one);
      if (group.head === null && group.waiting.length === 0 && !this.#isReady(one)) {
        this.#makeReady(one);
      } else {
        group.waiting.push(one);
      }
    }
  }

  /** At most so many members that may be emitted now; each becomes the head of its group. */
  takeReady(maxCount: number): readonly ReceivedEntry[] {
    const taken = this.#ready.splice(0, maxCount);
    for (const one of taken) {
      this.#groupOf(one).head = { token: claimTokenOf(one), deadlineMs: deadlineMs(one) };
    }
    return taken;
  }

  /** Resolves when a member becomes ready. */
  whenReady(): Promise<void> {
    if (this.#ready.length > 0) return Promise.resolve();
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  /** The head left the queue for good: the next one may go. */
  advance(groupId: string, token: string): void {
    const group = this.#groups.get(groupId);
    if (group?.head?.token !== token) return;
    group.head = null;
    const next = group.waiting.shift();
    if (next === undefined) this.#groups.delete(groupId);
    else this.#makeReady(next);
  }

  /** The head stays in the queue: the later members are given back; returns them. */
  drop(groupId: string, token: string): readonly ReceivedEntry[] {
    const group = this.#groups.get(groupId);
    if (group?.head?.token !== token) return [];
    this.#groups.delete(groupId);
    return group.waiting;
  }

  /** The members that wait behind these heads, whose leases are held with theirs. */
  behind(heads: readonly { readonly groupId: string; readonly token: string }[]) {
    return heads.flatMap(({ groupId, token }) => {
      const group = this.#groups.get(groupId);
      return group?.head?.token === token ? group.waiting : [];
    });
  }

  /** A lease was renewed. */
  renewed(groupId: string, token: string, atMs: number, leaseDurationMs: number): void {
    const group = this.#groups.get(groupId);
    if (group === undefined) return;
    if (group.head?.token === token) group.head.deadlineMs = atMs + leaseDurationMs;
    const index = group.waiting.findIndex((one) => claimTokenOf(one) === token);
    const member = group.waiting[index];
    if (member === undefined) return;
    group.waiting[index] = { ...member, leasedAtMs: atMs, leaseDurationMs };
  }

  /** Forgets what is no longer ours: SQS will hand it out again. */
  prune(nowMs: number): void {
    for (const one of this.#ready) {
      if (deadlineMs(one) <= nowMs && one.groupId !== null) this.#groups.delete(one.groupId);
    }
    this.#ready = this.#ready.filter((one) => deadlineMs(one) > nowMs);
    for (const [groupId, group] of this.#groups) {
      const isLost =
        (group.head !== null && group.head.deadlineMs <= nowMs) ||
        group.waiting.some((one) => deadlineMs(one) <= nowMs);
      if (isLost) {
        this.#groups.delete(groupId);
        this.#ready = this.#ready.filter((one) => one.groupId !== groupId);
      }
    }
  }

  /** Everything that is in nobody's hands, to be given back. */
  removeAll(): readonly ReceivedEntry[] {
    const rest = [...this.#ready, ...[...this.#groups.values()].flatMap(({ waiting }) => waiting)];
    this.#ready = [];
    this.#groups.clear();
    return rest;
  }

  #groupOf({ groupId }: ReceivedEntry): Group {
    const id = groupId ?? "";
    let group = this.#groups.get(id);
    if (group === undefined) {
      group = { head: null, waiting: [] };
      this.#groups.set(id, group);
    }
    return group;
  }

  #isReady({ groupId }: ReceivedEntry): boolean {
    return this.#ready.some((one) => one.groupId === groupId);
  }

  #makeReady(one: ReceivedEntry): void {
    this.#ready.push(one);
    for (const wake of this.#wake) wake();
    this.#wake = [];
  }
}

function deadlineMs({ leasedAtMs, leaseDurationMs }: ReceivedEntry): number {
  return leasedAtMs + leaseDurationMs;
}
