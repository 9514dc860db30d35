import type { StoreHarness } from "./store-harness.js";

/** Called once per run of the suite, before its first case. */
export type CreateHarness = () => StoreHarness | Promise<StoreHarness>;
