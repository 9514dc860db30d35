import { describeStoreConformance } from "@outbox/store-conformance/vitest";
import { findPgBouncer, startPgBouncer } from "@outbox/temporary-postgres";
import { testPostgresServers } from "@outbox/temporary-postgres/vitest";
import { describe, test } from "vitest";
import { postgresCapabilities as capabilities } from "./capabilities.js";
import { createPgliteHarness } from "./conformance/create-pglite-harness.js";
import { createPostgresHarness } from "./conformance/create-postgres-harness.js";

const [newest, ...others] = testPostgresServers();

for (const { version, url: serverUrl } of [newest, ...others]) {
  describeStoreConformance({
    name: `postgres ${version}, pool`,
    capabilities,
    harness: () => createPostgresHarness({ serverUrl }),
  });
}

if (findPgBouncer() === undefined) {
  describe("store conformance: postgres, PgBouncer", () => {
    test("in transaction mode", (context) => {
      context.skip("there is no pgbouncer on this machine; apt-get install pgbouncer brings it");
    });
  });
} else {
  describeStoreConformance({
    name: `postgres ${newest.version}, PgBouncer in transaction mode`,
    capabilities,
    harness: () =>
      createPostgresHarness({ serverUrl: newest.url, pool: (url) => startPgBouncer({ url }) }),
  });
}

const looksPastTransaction =
  "PGlite is one connection: nobody can look into the table while a transaction is open (transaction.integration.test.ts commits and rolls back)";
const sameClock =
  "PGlite runs in this process: its clock is the process's own, and is wrong where that is";

describeStoreConformance({
  name: "postgres, PGlite",
  capabilities,
  harness: createPgliteHarness,
  skip: {
    "A10-rolled-back-is-nothing": looksPastTransaction,
    "A10-committed-is-one-entry-each": looksPastTransaction,
    "A12-skewed-claimer": sameClock,
    "A12-skewed-judgement": sameClock,
    "A12-delays-by-the-store": sameClock,
  },
});
