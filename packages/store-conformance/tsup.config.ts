import type { Options } from "tsup";
import { packageBuild } from "../../tsup.shared.js";

const build: Options = {
  ...packageBuild(),
  // `node:test` has no name without its prefix.
  removeNodeProtocol: false,
  entry: {
    index: "src/index.ts",
    "node-test": "src/node-test.ts",
    vitest: "src/vitest.ts",
    // Started as a process by its path, which is beside whatever chunk starts it.
    "claim-loop": "src/processes/claim-loop.ts",
  },
};

export default build;
