// Uses a store and then has nothing more to do.
import { createPostgresStore } from "../create-postgres-store.js";

const { OUTBOX_URL: connectionString, OUTBOX_END: end } = process.env;
const store = createPostgresStore({ connectionString });
await store.enqueue({ type: "short.lived" }, { autonomous: true });
await store.claim({ workerId: "short", maxCount: 1 });
if (end === "closes") {
  await store.subscribe?.({ onWakeUp: () => {} });
  await store.close();
}
process.disconnect();
