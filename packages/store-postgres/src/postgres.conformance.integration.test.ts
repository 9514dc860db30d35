import { describeStoreConformance } from "@outbox/store-conformance/vitest";
import { findPgBouncer, startPgBouncer } from "@outbox/temporary-postgres";
import { testPostgresServers } from "@outbox/temporary-postgres/vitest";
import { describe, test } from "vitest";
import { postgresCapabilities as capabilities } from "./capabilities.js";
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
