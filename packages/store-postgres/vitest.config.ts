import { packageTests } from "../../vitest.shared.js";

export default packageTests({
  globalSetup: ["@outbox/temporary-postgres/vitest-global-setup"],
  provide: { postgresVersions: [18, 17] },
});
