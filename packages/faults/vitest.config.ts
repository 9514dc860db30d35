import { packageTests } from "../../vitest.shared.js";

export default packageTests({
  globalSetup: ["@outbox/temporary-postgres/vitest-global-setup"],
  // Leases have to run out, and processes to start.
  testTimeout: 120_000,
  // Each file keeps processes of its own busy.
  maxWorkers: 2,
});
