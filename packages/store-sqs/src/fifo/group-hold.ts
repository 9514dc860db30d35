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

  /**
   * Takes in what was received together, in the order of the receive. SQS gives no member of a group
   * of which one is in flight, so a group that we know already was taken from us meanwhile.
   */
  add(received: readonly ReceivedEntry[]): void {
    for (const groupId of new Set(received.map(groupIdOf))) this.#forget(groupId);
    for (const one of received) {
      const group = this.#groups.get(groupIdOf(one));
      if (group === undefined) {
        this.#groups.set(groupIdOf(one), { head: null, waiting: [] });
        this.#ready.push(one);
      } else {
        group.waiting.push(one);
      }
    }
  }

  /** At most so many members that may be emitted now; each becomes the head of its group. */
  takeReady(maxCount: number): readonly ReceivedEntry[] {
    const taken = this.#ready.splice(0, maxCount);
    for (const one of taken) {
      const group = this.#groups.get(groupIdOf(one));
      if (group !== undefined) {
        group.head = { token: claimTokenOf(one), deadlineMs: deadlineMs(one) };
      }
    }
    return taken;
  }

  /** Resolves when a member becomes ready because the one before it left the queue. */
  whenReady(): Promise<void> {
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
    for (const one of this.#ready) if (deadlineMs(one) <= nowMs) this.#forget(groupIdOf(one));
    for (const [groupId, { head, waiting }] of this.#groups) {
      const isLost =
        (head !== null && head.deadlineMs <= nowMs) ||
        waiting.some((one) => deadlineMs(one) <= nowMs);
      if (isLost) this.#forget(groupId);
    }
  }

  /** Everything that is in nobody's hands, to be given back. */
  removeAll(): readonly ReceivedEntry[] {
    const rest = [...this.#ready, ...[...this.#groups.values()].flatMap(({ waiting }) => waiting)];
    this.#ready = [];
    this.#groups.clear();
    return rest;
  }

  #forget(groupId: string): void {
    this.#groups.delete(groupId);
    this.#ready = this.#ready.filter((one) => groupIdOf(one) !== groupId);
  }

  #makeReady(one: ReceivedEntry): void {
    this.#ready.push(one);
    for (const wake of this.#wake) wake();
    this.#wake = [];
  }
}

function groupIdOf({ groupId }: ReceivedEntry): string {
  return groupId ?? "";
}

function deadlineMs({ leasedAtMs, leaseDurationMs }: ReceivedEntry): number {
  return leasedAtMs + leaseDurationMs;
}
