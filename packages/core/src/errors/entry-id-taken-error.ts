import { OutboxError } from "./outbox-error.js";

/**
 * A given `entryId` belongs to an entry of another (envelopeId, destination). Roll back the
 * transaction: its other entries may have been written. `outbox.entry_id_taken`
 */
export class EntryIdTakenError extends OutboxError {
  override readonly name = "EntryIdTakenError";
  readonly entryId: string;

  constructor(entryId: string) {
    super(
      "outbox.entry_id_taken",
      `entryId ${JSON.stringify(entryId)} belongs to an entry with another envelopeId or destination; leave entryId out, or choose one that is unique. Roll the transaction back: other entries of the same call may have been written.`,
    );
    this.entryId = entryId;
  }

  static override isInstance(value: unknown): value is EntryIdTakenError {
    return OutboxError.isInstance(value) && value.code === "outbox.entry_id_taken";
  }
}
