import type { EnqueueInput, OutboxEntry, StoreCapabilities } from "@outbox/core";
import type { StoreUnderTest } from "../harness/store-under-test.js";
import type { Mutant } from "./mutant.js";
import { overrideOutbox, overrideStores } from "./override-outbox.js";

/** Texts cut and cleaned until they fit, as a lenient database does. */
const cutToFit = (value: unknown): unknown =>
  typeof value === "string"
    ? value
        .replaceAll("\u0000", "")
        .replace(/\p{Surrogate}/gu, "")
        .slice(0, 255) || "x"
    : value === undefined
      ? undefined
      : String(value);

function lenient(input: EnqueueInput): EnqueueInput {
  const ids = ["type", "envelopeId", "entryId", "destination"] as const;
  return {
    ...input,
    ...Object.fromEntries(ids.flatMap((id) => (id in input ? [[id, cutToFit(input[id])]] : []))),
  } as EnqueueInput;
}

/** The store's `enqueue` with every input changed. */
function enqueueChanged(
  store: StoreUnderTest,
  change: (input: EnqueueInput) => EnqueueInput,
): StoreUnderTest["enqueue"] {
  const enqueue = async (inputs: EnqueueInput | readonly EnqueueInput[], options?: object) =>
    Array.isArray(inputs)
      ? store.enqueue(inputs.map(change), options)
      : store.enqueue(change(inputs as EnqueueInput), options);
  return enqueue as StoreUnderTest["enqueue"];
}

/** Stores that break what `defineStore` gives to every driver, and harnesses that show too little. */
export const storeMutants: readonly Mutant[] = [
  {
    id: "capability-left-out",
    description: "declares all but one capability",
    killedBy: "contract-capabilities",
    wrapOutbox: (outbox) =>
      overrideStores(outbox, ({ capabilities: { maxDelayMs: _, ...rest } }) => ({
        capabilities: rest as StoreCapabilities,
      })),
  },
  {
    id: "facet-in-part",
    description: "has a facet without one of its methods",
    killedBy: "contract-facets-are-whole",
    requires: ({ facets }) =>
      facets.has("inspection") ? undefined : { notRun: "it takes a method of inspection away" },
    wrapOutbox: (outbox) => overrideStores(outbox, () => ({ stats: undefined })),
  },
  {
    id: "harness-with-another-clock",
    description: "has raw probes that tell another time than the store's",
    killedBy: "contract-harness-shows-what-is-promised",
    wrapOutbox: (outbox) =>
      overrideOutbox(outbox, {
        raw: {
          readEntry: (entryId) => outbox.raw.readEntry(entryId),
          readEntries: () => outbox.raw.readEntries(),
          now: async () => (await outbox.raw.now()) + 3_600_000,
        },
      }),
  },
  {
    id: "harness-without-time",
    description: "has a time that does not move when it is told to",
    killedBy: "contract-time-moves",
    wrapOutbox: (outbox) =>
      overrideOutbox(outbox, {
        time: { mode: outbox.time.mode, advance: async () => undefined },
      }),
  },
  {
    id: "bad-arguments-mended",
    description: "takes the default for an argument that makes no sense",
    killedBy: "contract-bad-arguments",
    wrapOutbox: (outbox) =>
      overrideStores(outbox, (store) => ({
        claim: ({ maxCount, ...request }) =>
          store.claim(maxCount !== undefined && maxCount > 0 ? { maxCount, ...request } : request),
      })),
  },
  {
    id: "limit-not-enforced",
    description: "takes the longest it can where more was asked for",
    killedBy: "contract-limits",
    requires: ({ capabilities: { maxClaimCount } }) =>
      maxClaimCount === null ? { notRun: "the store declares no maxClaimCount" } : undefined,
    wrapOutbox: (outbox) =>
      overrideStores(outbox, (store) => ({
        claim: (request) =>
          store.claim({
            ...request,
            maxCount: Math.min(request.maxCount ?? 1, store.capabilities.maxClaimCount ?? 1),
          }),
      })),
  },
  {
    id: "never-closed",
    description: "goes on working after it was closed",
    killedBy: "contract-close",
    wrapOutbox: (outbox) =>
      overrideStores(outbox, () => ({
        close: async () => undefined,
        [Symbol.asyncDispose]: async () => undefined,
      })),
  },
  {
    id: "empty-batch-is-an-error",
    description: "refuses to complete nothing",
    killedBy: "A6-empty-batches",
    wrapOutbox: (outbox) =>
      overrideStores(outbox, (store) => ({
        completeClaims: async (completions) => {
          const [first] = await store.completeClaims(completions);
          return first === undefined ? [{ outcome: "missing", entry: null }] : [first];
        },
      })),
  },
  {
    id: "enqueued-one-by-one",
    description: "checks and writes the entries of one call one after the other",
    killedBy: "A10-all-or-none",
    wrapOutbox: (outbox) =>
      overrideStores(outbox, (store) => ({
        enqueue: (async (inputs: EnqueueInput | readonly EnqueueInput[], options?: object) => {
          if (!Array.isArray(inputs)) return store.enqueue(inputs as EnqueueInput, options);
          const results = [];
          for (const input of inputs) results.push(await store.enqueue(input, options));
          return results;
        }) as StoreUnderTest["enqueue"],
      })),
  },
  {
    id: "transaction-forgotten",
    description: "enqueues on its own when no transaction is named",
    killedBy: "A10-transaction-must-be-said",
    wrapOutbox: (outbox) =>
      overrideStores(outbox, (store) => ({
        enqueue: ((inputs: readonly EnqueueInput[], options?: { readonly tx?: unknown }) =>
          store.enqueue(
            inputs,
            options?.tx === undefined ? { autonomous: true } : { tx: options.tx },
          )) as StoreUnderTest["enqueue"],
      })),
  },
  {
    id: "ids-cut-to-fit",
    description: "shortens and cleans an id until the database takes it",
    killedBy: "A13-bad-ids-are-refused",
    wrapOutbox: (outbox) =>
      overrideStores(outbox, (store) => ({ enqueue: enqueueChanged(store, lenient) })),
  },
  {
    id: "payloads-shared",
    description: "gives every caller the same payload object",
    killedBy: "A13-entries-are-the-callers-own",
    wrapOutbox: (outbox) => {
      const payloads = new Map<string, unknown>();
      const shared = (entry: OutboxEntry): OutboxEntry => {
        const payload = payloads.get(entry.entryId) ?? entry.envelope.payload;
        payloads.set(entry.entryId, payload);
        return { ...entry, envelope: { ...entry.envelope, payload } };
      };
      return overrideStores(outbox, (store) => ({
        findByOutboxEntryId: async (entryId) => {
          const entry = await store.findByOutboxEntryId?.(entryId);
          return entry ? shared(entry) : null;
        },
        claim: async (request) => {
          const batch = await store.claim(request);
          const claims = batch.claims.map((claim) => ({ ...claim, entry: shared(claim.entry) }));
          return { ...batch, claims };
        },
      }));
    },
  },
  {
    id: "ordering-key-ignored",
    description: "accepts an ordering key and keeps no order",
    killedBy: "A17-ordering-key-is-refused-where-not-kept",
    mode: "negative",
    wrapOutbox: (outbox) =>
      overrideStores(outbox, (store) => ({
        enqueue: enqueueChanged(store, ({ orderingKey: _, ...input }) => input as EnqueueInput),
      })),
  },
  {
    id: "transaction-ignored",
    description: "accepts a transaction that it cannot join",
    killedBy: "A10-rolled-back-is-nothing",
    mode: "negative",
    wrapOutbox: (outbox) =>
      overrideStores(outbox, (store) => ({
        enqueue: ((inputs: readonly EnqueueInput[]) =>
          store.enqueue(inputs)) as StoreUnderTest["enqueue"],
      })),
  },
  ...(
    [
      ["claim-id-ignored", "claimId", "A9-claim-replay"],
      ["types-ignored", "types", "contract-type-filter"],
      ["suspect-filter-ignored", "suspects", "A16-suspect-filter"],
    ] as const
  ).map(
    ([id, option, killedBy]): Mutant => ({
      id,
      description: `accepts \`${option}\` and pays no heed to it`,
      killedBy,
      mode: "negative",
      wrapOutbox: (outbox) =>
        overrideStores(outbox, (store) => ({
          claim: ({ [option]: _, ...request }) => store.claim(request),
        })),
    }),
  ),
  {
    id: "kinds-ignored",
    description: "claims anything where one kind was asked for",
    killedBy: "contract-claim-kinds",
    mode: "negative",
    wrapOutbox: (outbox) =>
      overrideStores(outbox, (store) => ({ claimPending: (request) => store.claim(request) })),
  },
];
