import { StoreError, type StoreErrorKind } from "@outbox/core";
import { classifyBatchError, classifySqsError } from "../classify-error.js";
import { backoffMs, pause } from "./backoff.js";
import { describeError } from "./explained-error.js";

/** What became of one member. */
export type BatchResult =
  | { readonly kind: "done" }
  /** Its receipt handle is not that of a message in flight. */
  | { readonly kind: "stale"; readonly message: string }
  /** SQS will never take it. */
  | { readonly kind: "refused"; readonly message: string }
  /** Not known, or not done, after every try. */
  | { readonly kind: "open"; readonly error: StoreError };

/** The reply of a batch call, by the ids that were sent. */
export interface BatchReply {
  readonly Successful?: readonly { readonly Id?: string | undefined }[] | undefined;
  readonly Failed?:
    | readonly {
        readonly Id: string | undefined;
        readonly Code: string | undefined;
        readonly Message?: string | undefined;
        readonly SenderFault?: boolean | undefined;
      }[]
    | undefined;
}

export interface BatchCall<Item> {
  /** For errors, e.g. `complete`. */
  readonly operation: string;
  /** Makes the call for these members; the id of each is its place in the list. */
  call(items: readonly Item[]): Promise<BatchReply>;
  /** Bytes of a member, where the sum is bounded. */
  bytesOf?(item: Item): number;
  readonly maxBytes?: number;
}

/** Most members of one call. */
export const largestBatch = 10;

/** Calls of one batch at a time. */
const callsAtATime = 8;

const tries = 5;

/**
 * Runs a batch call for any number of members, in calls bounded by count and bytes, and gets an
 * answer for each: what failed for now is repeated by itself, and a member for which SQS refuses
 * the whole call is found by halving it. Throws nothing.
 */
export async function runBatch<Item>(
  items: readonly Item[],
  batch: BatchCall<Item>,
): Promise<ReadonlyMap<Item, BatchResult>> {
  const results = new Map<Item, BatchResult>();
  const chunks = splitIntoCalls(items, batch);
  const lanes = Array.from({ length: Math.min(callsAtATime, chunks.length) }, async () => {
    for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
      await runChunk(chunk, batch, results);
    }
  });
  await Promise.all(lanes);
  return results;
}

/** Lists of at most ten members and `maxBytes`; one that is too big by itself stands alone. */
export function splitIntoCalls<Item>(
  items: readonly Item[],
  { bytesOf, maxBytes = Number.POSITIVE_INFINITY }: Pick<BatchCall<Item>, "bytesOf" | "maxBytes">,
): Item[][] {
  const chunks: Item[][] = [];
  let current: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = bytesOf?.(item) ?? 0;
    if (current.length === largestBatch || (current.length > 0 && bytes + size > maxBytes)) {
      chunks.push(current);
      current = [];
      bytes = 0;
    }
    current.push(item);
    bytes += size;
  }
  if (current.length > 0) chunks.push(current);
  return chunks;
}

async function runChunk<Item>(
  chunk: readonly Item[],
  batch: BatchCall<Item>,
  results: Map<Item, BatchResult>,
): Promise<void> {
  let open = chunk;
  for (let attempt = 1; open.length > 0; attempt++) {
    let reply: BatchReply;
    let failure: { readonly kind: StoreErrorKind; readonly error: unknown } | undefined;
    try {
      reply = await batch.call(open);
    } catch (error) {
      const kind = classifySqsError(error);
      if (kind === "invalid-data" || kind === "stale-handle") {
        await splitOff(open, batch, results, error, kind);
        return;
      }
      failure = { kind, error };
      reply = {};
    }
    const repeatable: Item[] = [];
    const members = membersById(reply);
    for (const [index, item] of open.entries()) {
      const result = members.get(String(index)) ?? failure ?? noReply;
      if (!("kind" in result)) {
        results.set(item, result.result);
      } else if (result.kind === "permanent" || attempt === tries) {
        results.set(item, { kind: "open", error: storeError(batch.operation, result) });
      } else {
        repeatable.push(item);
      }
    }
    open = repeatable;
    if (open.length > 0) await pause(backoffMs(attempt));
  }
}

/** SQS refused the whole call for one of its members. */
async function splitOff<Item>(
  chunk: readonly Item[],
  batch: BatchCall<Item>,
  results: Map<Item, BatchResult>,
  error: unknown,
  kind: "invalid-data" | "stale-handle",
): Promise<void> {
  const [only] = chunk;
  if (only === undefined) return;
  if (chunk.length === 1) {
    results.set(only, {
      kind: kind === "stale-handle" ? "stale" : "refused",
      message: describeError(error),
    });
    return;
  }
  const middle = Math.ceil(chunk.length / 2);
  await runChunk(chunk.slice(0, middle), batch, results);
  await runChunk(chunk.slice(middle), batch, results);
}

type Failure = { readonly kind: StoreErrorKind; readonly error: unknown };

/** A member that the reply does not mention. */
const noReply: Failure = {
  kind: "unknown-outcome",
  error: new Error("SQS's reply says nothing about this member of the batch"),
};

function membersById({
  Successful = [],
  Failed = [],
}: BatchReply): ReadonlyMap<string, { readonly result: BatchResult } | Failure> {
  const members = new Map<string, { readonly result: BatchResult } | Failure>();
  for (const { Id = "" } of Successful) members.set(Id, { result: { kind: "done" } });
  for (const failed of Failed) {
    const kind = classifyBatchError(failed);
    const message = `${failed.Code}: ${failed.Message ?? "(no message)"}`;
    members.set(
      failed.Id ?? "",
      kind === "stale-handle"
        ? { result: { kind: "stale", message } }
        : kind === "invalid-data"
          ? { result: { kind: "refused", message } }
          : { kind, error: new Error(message) },
    );
  }
  return members;
}

function storeError(operation: string, { kind, error }: Failure): StoreError {
  const what = `sqs store: ${operation} failed (${kind}): ${describeError(error)}`;
  return new StoreError(operation, kind, what, error);
}
