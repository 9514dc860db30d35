import assert from "node:assert/strict";
import type {
  ClaimBatch,
  ClaimRequest,
  EnqueueInput,
  EnqueueResult,
  OutboxClaim,
  StoreCapabilities,
} from "@outbox/core";
import type { RawEntry, RawProbes } from "../harness/raw-probes.js";
import type {
  CreateOutboxOptions,
  OutboxUnderTest,
  StoreHarness,
} from "../harness/store-harness.js";
import type { StoreUnderTest } from "../harness/store-under-test.js";
import type { WrapDriver } from "../harness/wrap-driver.js";
import type { Mutant } from "../mutants/mutant.js";

/** The lease of cases that must wait for its end: short, and long enough for a round trip or two. */
export const waitedLeaseMs = 2_000;
export const waitedMarginMs = 100;

/** What a case works with: one fresh outbox, and the few steps that nearly every case takes. */
export interface CaseContext extends OutboxUnderTest {
  readonly capabilities: StoreCapabilities;
  /** The lease to use: long where time can be moved, short where it must be waited for. */
  readonly leaseMs: number;
  /** What to add to a lease or delay to be safely past it. */
  readonly marginMs: number;
  /** The broken store that runs here, for processes to run the same; `null` outside of proofs. */
  readonly mutantId: string | null;

  /** Another outbox for this case; closed with it. */
  createOutbox(options?: CreateOutboxOptions): Promise<CaseContext>;
  /** Enqueues outside any transaction. A number is that many small entries in one call. */
  enqueue(inputs: number | readonly EnqueueInput[]): Promise<readonly EnqueueResult[]>;
  /** The same for one entry; its id. */
  enqueueOne(input?: Partial<EnqueueInput>): Promise<string>;
  /** Claims by `worker-a` for `leaseMs` unless the request says otherwise. */
  claim(request?: Partial<ClaimRequest>, store?: StoreUnderTest): Promise<ClaimBatch>;
  /** The claim of the only entry that is due. */
  claimOne(request?: Partial<ClaimRequest>, store?: StoreUnderTest): Promise<OutboxClaim>;
  /** The row, which must be there. */
  read(entryId: string): Promise<RawEntry>;
  /** Lets every lease taken so far with `leaseMs` run out. */
  expireLeases(): Promise<void>;
}

export interface CaseContextOptions {
  readonly capabilities: StoreCapabilities;
  /** A broken store to run instead of the good one. */
  readonly mutant?: Mutant | undefined;
}

/** Contexts of one case, closed together. */
export interface CaseContexts {
  readonly context: CaseContext;
  close(): Promise<void>;
}

export async function openCaseContext(
  harness: StoreHarness,
  { capabilities, mutant }: CaseContextOptions,
): Promise<CaseContexts> {
  const opened: OutboxUnderTest[] = [];
  const open = async (more: CreateOutboxOptions): Promise<CaseContext> => {
    let raw: RawProbes | undefined;
    const breakDriver = mutant?.wrap?.bind(mutant);
    const wrapDriver: WrapDriver | undefined =
      breakDriver &&
      ((driver) =>
        breakDriver(driver, () => {
          if (raw === undefined) throw new Error("the outbox is not open yet");
          return raw;
        }));
    const good = await harness.createOutbox({ wrapDriver, ...more });
    raw = good.raw;
    const outbox = mutant?.wrapOutbox?.(good) ?? good;
    opened.push(outbox);
    return caseContext(outbox, capabilities, mutant?.id ?? null, (options = {}) => open(options));
  };
  return {
    context: await open({}),
    close: async () => {
      for (const outbox of opened.reverse()) await outbox.close();
    },
  };
}

function caseContext(
  outbox: OutboxUnderTest,
  capabilities: StoreCapabilities,
  mutantId: string | null,
  createOutbox: CaseContext["createOutbox"],
): CaseContext {
  const waits = outbox.time.mode === "wait";
  const leaseMs = Math.min(
    waits ? waitedLeaseMs : 60_000,
    capabilities.maxLeaseMs ?? Number.POSITIVE_INFINITY,
  );
  const marginMs = Math.max(waits ? waitedMarginMs : 1_000, 2 * capabilities.timePrecisionMs);
  const { raw, store: own } = outbox;

  const enqueue: CaseContext["enqueue"] = async (inputs) =>
    own.enqueue(typeof inputs === "number" ? smallEntries(inputs) : inputs, { autonomous: true });

  const claim: CaseContext["claim"] = (request = {}, store = own) =>
    store.claim({ workerId: "worker-a", leaseDurationMs: leaseMs, ...request });

  return {
    // One by one: a harness may be a class, whose methods a spread would lose.
    store: own,
    raw,
    time: outbox.time,
    transactions: outbox.transactions,
    gate: outbox.gate,
    processes: outbox.processes,
    connections: outbox.connections,
    sessionVariants: outbox.sessionVariants,
    openStore: () => outbox.openStore(),
    close: () => outbox.close(),
    ...(outbox.nonTransactions && {
      nonTransactions: async () => (await outbox.nonTransactions?.()) ?? [],
    }),
    capabilities,
    leaseMs,
    marginMs,
    mutantId,
    createOutbox,
    enqueue,
    enqueueOne: async (input = {}) => {
      const [result] = await enqueue([{ type: "order.placed", payload: { number: 1 }, ...input }]);
      assert(result?.enqueued, "a new entry is enqueued");
      return result.entryId;
    },
    claim,
    claimOne: async (request, store) => {
      const { claims } = await claim(request, store);
      const [only] = claims;
      assert(
        only !== undefined && claims.length === 1,
        `one entry is due, ${claims.length} claimed`,
      );
      return only;
    },
    read: async (entryId) => {
      const entry = await raw.readEntry(entryId);
      assert(entry !== null, `the row of entry ${entryId} is there`);
      return entry;
    },
    expireLeases: () => outbox.time.advance(leaseMs + marginMs),
  };
}

function smallEntries(count: number): readonly EnqueueInput[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "order.placed",
    payload: { number: index + 1 },
  }));
}
