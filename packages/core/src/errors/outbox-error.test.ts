import { describe, expect, it } from "vitest";
import { ClosedError } from "./closed-error.js";
import { EntryIdTakenError } from "./entry-id-taken-error.js";
import { InvalidArgumentError } from "./invalid-argument-error.js";
import { NonRetryableEmissionError } from "./non-retryable-emission-error.js";
import { NotATransactionError } from "./not-a-transaction-error.js";
import { OutboxError } from "./outbox-error.js";
import { StoreError } from "./store-error.js";
import { UnsupportedError } from "./unsupported-error.js";

const cause = new Error("why");

const classes = [
  [ClosedError, new ClosedError("store"), "outbox.closed"],
  [EntryIdTakenError, new EntryIdTakenError("id-1"), "outbox.entry_id_taken"],
  [
    InvalidArgumentError,
    new InvalidArgumentError("a.b", "is bad", { cause }),
    "outbox.invalid_argument",
  ],
  [
    NonRetryableEmissionError,
    new NonRetryableEmissionError("no", { cause }),
    "outbox.emission_not_retryable",
  ],
  [
    NotATransactionError,
    new NotATransactionError("is a pool", { cause }),
    "outbox.not_a_transaction",
  ],
  [StoreError, new StoreError("claim", "permanent", "failed", cause), "outbox.store_error"],
  [UnsupportedError, new UnsupportedError("cannot"), "outbox.unsupported"],
] as const;

describe.each(classes.map((one) => [one[0].name, ...one] as const))(
  "%s",
  (_, Class, error, code) => {
    it("is an OutboxError with a stable code, its own name and a message", () => {
      expect(error).toBeInstanceOf(OutboxError);
      expect(error.code).toBe(code);
      expect(error.name).toBe(Class.name);
      expect(error.message).not.toBe("");
      expect(String(error.stack)).toContain(Class.name);
      expect(error.isTransient).toBe(false);
    });

    it("is told from every other class, and from anything else", () => {
      expect(Class.isInstance(error)).toBe(true);
      expect(OutboxError.isInstance(error)).toBe(true);
      for (const [, other] of classes) expect(Class.isInstance(other)).toBe(other === error);
      for (const other of [undefined, null, 1, "x", {}, new Error(), { code }, () => 1]) {
        expect(Class.isInstance(other)).toBe(false);
      }
    });

    it("is recognised across two copies of the package", () => {
      const marker = Symbol.for("@outbox/error");
      const nonRetryable = Symbol.for("@outbox/error/non-retryable-emission");
      const foreign = Object.assign(new Error("x"), { code, [marker]: true });
      if (Class === NonRetryableEmissionError) Object.assign(foreign, { [nonRetryable]: true });
      expect(Class.isInstance(foreign)).toBe(true);
    });
  },
);

describe("what an error carries", () => {
  it("the cause", () => {
    expect(new StoreError("claim", "permanent", "failed", cause).cause).toBe(cause);
    expect(new InvalidArgumentError("a", "b", { cause }).cause).toBe(cause);
    expect("cause" in new UnsupportedError("x")).toBe(false);
  });

  it("the argument as a path, and in the message", () => {
    const error = new InvalidArgumentError("inputs[3].payload", "is bad");
    expect(error.argument).toBe("inputs[3].payload");
    expect(error.message).toBe("inputs[3].payload is bad");
  });

  it.each([
    ["transient", true],
    ["unknown-outcome", true],
    ["invalid-data", false],
    ["permanent", false],
  ] as const)("whether it may work later: %s", (kind, isTransient) => {
    const error = new StoreError("claim", kind, "failed", cause);
    expect(error).toMatchObject({ kind, isTransient, operation: "claim" });
  });

  it("a code of one's own for an emission that cannot work", () => {
    const error = new NonRetryableEmissionError("no such customer", { code: "crm.unknown" });
    expect(error.code).toBe("crm.unknown");
    expect(NonRetryableEmissionError.isInstance(error)).toBe(true);
  });
});
