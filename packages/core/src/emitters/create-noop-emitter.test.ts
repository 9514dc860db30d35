import { expect, it } from "vitest";
import { createNoopEmitter } from "./create-noop-emitter.js";
import { testContext, testEnvelope } from "./test-emission.js";

it("says delivered and handles every type", () => {
  const emitter = createNoopEmitter();
  expect(emitter.emit(testEnvelope(), testContext())).toEqual({ status: "delivered" });
  expect(emitter.types).toBeUndefined();
});
