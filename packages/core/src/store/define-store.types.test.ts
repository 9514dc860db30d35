import { describe, expectTypeOf, it } from "vitest";
import type { EnqueueInput } from "../contract/enqueue-input.js";
import type {
  InspectionFacet,
  RedriveFacet,
  RetentionFacet,
  SchemaFacet,
  WakeUpFacet,
} from "../contract/facets.js";
import type { OutboxClaimStore } from "../contract/outbox-claim-store.js";
import type { OutboxStore } from "../contract/outbox-store.js";
import type { StoreDriver } from "../contract/store-driver.js";
import type { MemoryStore } from "../memory/create-memory-store.js";
import type { DefinedStore, TransactionOf } from "./define-store.js";

// The compiler is the test: an `@ts-expect-error` without an error is one. Nothing here is run.

interface Transaction {
  query(text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }>;
}
interface OrderPlaced {
  readonly orderId: string;
}
type Events = {
  "order.placed": OrderPlaced;
  "cache.flushed": undefined;
  "note.taken": { text: string } | undefined;
};

type Core = StoreDriver<Transaction>;
type WithFacets = Core &
  Required<Pick<Core, "selection" | "inspection" | "redrive" | "retention" | "schema" | "wakeUp">>;

declare const bare: DefinedStore<Core>;
declare const whole: DefinedStore<WithFacets>;
declare const typed: DefinedStore<Core, Events>;
declare const memory: MemoryStore;
declare const typedMemory: MemoryStore<Events>;
declare const tx: Transaction;

const never = (_: () => unknown) => undefined;
const input = { type: "order.placed" };

describe("the transaction", () => {
  it("is demanded where there is one to join", () => {
    expectTypeOf<TransactionOf<Core>>().toEqualTypeOf<Transaction>();
    never(() => bare.enqueue(input, { tx }));
    never(() => bare.enqueue([input], { tx }));
    never(() => bare.enqueue(input, { autonomous: true }));
    // @ts-expect-error: neither a transaction nor the wish to do without
    never(() => bare.enqueue(input));
    // @ts-expect-error: the same for several
    never(() => bare.enqueue([input]));
    // @ts-expect-error: an option's object alone says nothing
    never(() => bare.enqueue(input, {}));
    // @ts-expect-error: one of both
    never(() => bare.enqueue(input, { tx, autonomous: true }));
    // @ts-expect-error: this must be said with true
    never(() => bare.enqueue(input, { autonomous: false }));
    // @ts-expect-error: not any object
    never(() => bare.enqueue(input, { tx: {} }));
    // @ts-expect-error: a variable that may be undefined
    never((maybe?: Transaction) => bare.enqueue(input, { tx: maybe }));
  });

  it("may be left out only where there is none", () => {
    expectTypeOf<TransactionOf<StoreDriver<never>>>().toEqualTypeOf<never>();
    never(() => memory.enqueue(input));
    never(() => memory.enqueue([input]));
    never(() => memory.enqueue(input, { autonomous: true }));
    // @ts-expect-error: it would be ignored
    never(() => memory.enqueue(input, { tx }));
  });
});

describe("an event map", () => {
  it("ties the payload to the type", () => {
    never(() => typed.enqueue({ type: "order.placed", payload: { orderId: "1" } }, { tx }));
    never(() => typedMemory.enqueue({ type: "order.placed", payload: { orderId: "1" } }));
    // @ts-expect-error: a payload of another type
    never(() => typed.enqueue({ type: "order.placed", payload: { text: "1" } }, { tx }));
    // @ts-expect-error: a payload is missing
    never(() => typed.enqueue({ type: "order.placed" }, { tx }));
    // @ts-expect-error: a type that there is not
    never(() => typed.enqueue({ type: "order.palced", payload: { orderId: "1" } }, { tx }));
    // @ts-expect-error: in a list too
    never(() => typedMemory.enqueue([{ type: "order.placed", payload: 5 }]));
  });

  it("lets a payload be left out that may be undefined", () => {
    never(() => typedMemory.enqueue({ type: "cache.flushed" }));
    never(() => typedMemory.enqueue({ type: "note.taken" }));
    never(() => typedMemory.enqueue({ type: "note.taken", payload: { text: "x" } }));
    // @ts-expect-error: but not be another
    never(() => typedMemory.enqueue({ type: "note.taken", payload: { orderId: "x" } }));
    // @ts-expect-error: nor be there where there is none
    never(() => typedMemory.enqueue({ type: "cache.flushed", payload: 5 }));
  });

  it("is not needed", () => {
    expectTypeOf<EnqueueInput["payload"]>().toEqualTypeOf<unknown>();
    never(() => memory.enqueue({ type: "anything", payload: 5 }));
    // @ts-expect-error: a misspelt attribute is still noticed
    never(() => memory.enqueue({ type: "anything", availableIn: 5 }));
  });
});

describe("a facet", () => {
  it("is there where the driver has it", () => {
    expectTypeOf<typeof whole>().toExtend<OutboxClaimStore>();
    expectTypeOf<typeof whole>().toExtend<OutboxStore<Transaction>>();
    expectTypeOf<typeof whole>().toExtend<InspectionFacet & RedriveFacet & RetentionFacet>();
    expectTypeOf<typeof whole>().toExtend<SchemaFacet & WakeUpFacet>();
    expectTypeOf<MemoryStore>().toExtend<
      OutboxClaimStore &
        OutboxStore<never> &
        InspectionFacet &
        RedriveFacet &
        RetentionFacet &
        WakeUpFacet
    >();
  });

  it("is absent where the driver has not", () => {
    expectTypeOf<typeof bare>().toExtend<OutboxClaimStore>();
    expectTypeOf<typeof bare>().not.toHaveProperty("save");
    expectTypeOf<typeof bare>().not.toHaveProperty("markDelivered");
    expectTypeOf<typeof bare>().not.toHaveProperty("list");
    expectTypeOf<typeof bare>().not.toHaveProperty("redrive");
    expectTypeOf<typeof bare>().not.toHaveProperty("purge");
    expectTypeOf<typeof bare>().not.toHaveProperty("migrate");
    expectTypeOf<typeof bare>().not.toHaveProperty("subscribe");
    expectTypeOf<MemoryStore>().not.toHaveProperty("migrate");
  });
});

describe("a claim request", () => {
  it("has no now: production code must not bend the clock", () => {
    never(() => memory.claim({ workerId: "w" }));
    // @ts-expect-error: the store's clock decides
    never(() => memory.claim({ workerId: "w", now: new Date() }));
  });
});
