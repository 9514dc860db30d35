import { describeStoreMutants } from "@outbox/store-conformance/vitest";
import { testPostgresServers } from "@outbox/temporary-postgres/vitest";
import { postgresCapabilities as capabilities } from "./capabilities.js";
import { createPostgresHarness } from "./conformance/create-postgres-harness.js";

const [{ version, url: serverUrl }] = testPostgresServers();

describeStoreMutants({
  name: `postgres ${version}`,
  capabilities,
  harness: () => createPostgresHarness({ serverUrl }),
});
