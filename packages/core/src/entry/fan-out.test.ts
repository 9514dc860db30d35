import { expect, it } from "vitest";
import { createMemoryStore } from "../memory/create-memory-store.js";
import { fanOut } from "./fan-out.js";

it("makes an entry per destination of one envelope", async () => {
  const store = createMemoryStore();
  const results = await store.enqueue(fanOut({ type: "order.placed" }, ["billing", "search"]));
  expect(results.map(({ destination, enqueued }) => [destination, enqueued])).toEqual([
    ["billing", true],
    ["search", true],
  ]);
  expect(new Set(results.map(({ envelopeId }) => envelopeId)).size).toBe(1);
  expect(new Set(results.map(({ entryId }) => entryId)).size).toBe(2);
});

it("keeps the caller's own idempotency key", () => {
  const inputs = fanOut({ type: "order.placed", envelopeId: "order-1" }, ["billing", "search"]);
  expect(inputs.map(({ envelopeId }) => envelopeId)).toEqual(["order-1", "order-1"]);
});

it.each([
  ["destinations must not be empty", { type: "a" }, []],
  ["destinations must not name a destination twice", { type: "a" }, ["x", "x"]],
  ["destinations[1] must not be empty", { type: "a" }, ["x", ""]],
  ["input.destination must be left out", { type: "a", destination: "x" }, ["x"]],
  ["input.entryId must be left out", { type: "a", entryId: "x" }, ["x"]],
])("%s", (message, input, destinations) => {
  expect(() => fanOut(input, destinations)).toThrow(message);
});
