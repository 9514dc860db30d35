import type { Options } from "tsup";

/** The one build configuration of every package: ESM, declarations and source maps for Node 20. */
export const packageBuild = (entry: string[] = ["src/index.ts"]): Options => ({
  entry,
  format: ["esm"],
  target: "node20",
  platform: "node",
  sourcemap: true,
  clean: true,
  treeshake: true,
  splitting: true,
  // The declaration build of tsup sets `baseUrl`, which TypeScript 6 reports as deprecated.
  dts: { compilerOptions: { ignoreDeprecations: "6.0" } },
});
