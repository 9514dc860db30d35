import type { OutboxUnderTest } from "../harness/store-harness.js";
import type { StoreUnderTest } from "../harness/store-under-test.js";
import { withOverrides } from "./with-overrides.js";

/** The outbox with some of its members replaced. */
export function overrideOutbox(
  outbox: OutboxUnderTest,
  overrides: Partial<OutboxUnderTest>,
): OutboxUnderTest {
  return withOverrides(outbox, overrides);
}

/** The outbox with some members of its stores replaced; `undefined` takes one away. */
export function overrideStores(
  outbox: OutboxUnderTest,
  overrides: (store: StoreUnderTest) => {
    readonly [Member in keyof StoreUnderTest]?: StoreUnderTest[Member] | undefined;
  },
): OutboxUnderTest {
  const broken = (store: StoreUnderTest) => withOverrides(store, overrides(store));
  return overrideOutbox(outbox, {
    store: broken(outbox.store),
    openStore: async () => broken(await outbox.openStore()),
  });
}
