import { packageTests } from "../../vitest.shared.js";

// Compiling every snippet is one long test.
export default packageTests({ testTimeout: 120_000 });
