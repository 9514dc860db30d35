// Migrates in a process of its own.
import { createPostgresStore } from "../create-postgres-store.js";

const store = createPostgresStore({
  connectionString: process.env["OUTBOX_URL"],
  table: process.env["OUTBOX_TABLE"],
});
await store.migrate();
await store.close();
