import { defineConfig, type ViteUserConfig } from "vitest/config";
import { createReportFile } from "./scripts/test-report.js";

// Workspace packages resolve to their source; the rest are the defaults that setting any replaces.
const conditions = ["@outbox/source", "node", "development|production"];

/** The one test configuration of every package; `test` adds to or replaces single settings. */
export const packageTests = (test: ViteUserConfig["test"] = {}): ViteUserConfig =>
  defineConfig({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      include: ["src/**/*.test.ts"],
      testTimeout: 30_000,
      // The first hook of an integration test starts a database server.
      hookTimeout: 120_000,
      reporters: ["default", createReportFile(".reports/vitest.json")],
      ...test,
    },
  });
