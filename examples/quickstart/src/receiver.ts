import "./end-with-parent.js";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { createReceiver } from "./create-receiver.js";
import { environment } from "./environment.js";
import { tellMain } from "./messages.js";
import { chooseReaction } from "./receiver-faults.js";
import { createReceiverLedger } from "./receiver-ledger.js";

/** The receiver process. */
const pool = new pg.Pool({ connectionString: environment("RECEIVER_DATABASE_URL"), max: 10 });
const ledger = createReceiverLedger(pool);
await ledger.createTables();

const server = createReceiver({ ledger, chooseReaction, workMs: 80 });
await once(server.listen(0, "127.0.0.1"), "listening");
tellMain({
  kind: "listening",
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`,
});

process.once("SIGTERM", async () => {
  server.close();
  server.closeAllConnections();
  await pool.end();
  process.disconnect?.();
});
