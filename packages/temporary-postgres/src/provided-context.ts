import type {} from "vitest";
import type { PostgresVersion } from "./postgres-version.js";

/** A server that test files create their databases on. */
export interface TestPostgresServer {
  /** Major version. */
  readonly version: number;
  /** URL of a database whose user may create others. */
  readonly url: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    /** Which servers the run needs: `test.provide` in the vitest configuration; `[18]` without. */
    postgresVersions: readonly PostgresVersion[];
    /** The servers, one for each version. */
    postgresServers: readonly TestPostgresServer[];
  }
}
