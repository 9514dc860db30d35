import { expect, it } from "vitest";
import { pagesWithGeneratedParts } from "./generated-parts.js";

it("generated parts of pages are current (pnpm --filter @outbox/documentation write)", () => {
  for (const { current, wanted } of pagesWithGeneratedParts()) expect(current).toBe(wanted);
});
