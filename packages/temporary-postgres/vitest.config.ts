import { packageTests } from "../../vitest.shared.js";

export default packageTests({
  globalSetup: ["@outbox/temporary-postgres/vitest-global-setup"],
  // Most tests start a server, some several programs at once.
  testTimeout: 120_000,
  provide: { postgresVersions: [17, 18] },
});
