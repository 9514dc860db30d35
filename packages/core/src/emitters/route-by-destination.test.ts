import { expect, it } from "vitest";
import { drain } from "../drain/drain.js";
import { fanOut } from "../entry/fan-out.js";
import { createMemoryStore } from "../memory/create-memory-store.js";
import { routeByDestination } from "./route-by-destination.js";

it("sends each entry of a fan-out to its own provider, and retries each by itself", async () => {
  const store = createMemoryStore();
  await store.enqueue(fanOut({ type: "order.placed", envelopeId: "o1" }, ["billing", "search"]));
  const billed: string[] = [];
  const emitter = routeByDestination({
    billing: ({ envelopeId }) => void billed.push(envelopeId),
    search: () => {
      throw new Error("down");
    },
  });
  await drain({ store, emitter, retryDelayMs: 60_000 });
  expect(billed).toEqual(["o1"]);
  expect((await store.show("o1@billing"))?.status).toBe("delivered");
  expect(await store.show("o1@search")).toMatchObject({
    status: "retryable-failure",
    retryCount: 1,
  });
});

it("defers what has no route, uncounted", async () => {
  const store = createMemoryStore();
  await store.enqueue({ type: "a", envelopeId: "o1", destination: "unknown" });
  await drain({ store, emitter: routeByDestination({ billing: () => {} }) });
  expect(await store.show("o1@unknown")).toMatchObject({ status: "deferred", retryCount: 0 });
});

it.each([
  ["routes must not be empty", {}],
  ["must be an async function", { billing: 3 as never }],
])("refuses: %s", (message, routes) => {
  expect(() => routeByDestination(routes)).toThrow(message);
});
