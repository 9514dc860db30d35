import type { OutboxEntry } from "../contract/outbox-entry.js";
import { createMemoryDriver } from "../memory/memory-driver.js";
import { MemoryOutbox } from "../memory/memory-outbox.js";
import { rowToEntry } from "../memory/row-to-entry.js";
import { defineStoreWithTiming } from "../store/define-store.js";
import { ManualTiming } from "./manual-timing.js";
import { RecordingEmitter } from "./recording-emitter.js";
import { ScriptedStore } from "./scripted-store.js";

/** Everything a drain needs, in test time. */
export class DrainWorld {
  readonly timing = new ManualTiming();
  readonly outbox = new MemoryOutbox(this.timing.storeNow);
  readonly memory = defineStoreWithTiming(createMemoryDriver(this.outbox), {}, this.timing);
  readonly scripted = new ScriptedStore(this.memory);
  readonly store = this.scripted.store;
  readonly emitter = new RecordingEmitter();

  /** Enqueues entries with the ids `e1`, `e2`, ... */
  async enqueue(count: number, type = "test.happened"): Promise<void> {
    const already = this.outbox.rows.size;
    await this.memory.enqueue(
      Array.from({ length: count }, (_, index) => {
        const id = `e${already + index + 1}`;
        return { envelopeId: id, entryId: id, type, payload: { secret: `payload of ${id}` } };
      }),
    );
  }

  entry(entryId: string): OutboxEntry {
    const row = this.outbox.rows.get(entryId);
    if (row === undefined) throw new Error(`no entry ${entryId}`);
    return rowToEntry(row);
  }

  /** How many entries have this status. */
  count(status: OutboxEntry["status"]): number {
    return [...this.outbox.rows.values()].filter(({ entry }) => entry.status === status).length;
  }

  get leased(): number {
    return [...this.outbox.rows.values()].filter(({ entry }) => entry.claimToken !== null).length;
  }
}
