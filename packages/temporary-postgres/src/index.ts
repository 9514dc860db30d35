export { type CreateDatabaseOptions, createDatabase, dropDatabase } from "./create-database.js";
export { findPgBouncer } from "./find-pgbouncer.js";
export type { PostgresVersion } from "./postgres-version.js";
export { ServerStartError } from "./server-start-error.js";
export { startTemporaryPostgres } from "./start-temporary-postgres.js";
export {
  startPgBouncer,
  type TemporaryPgBouncer,
  type TemporaryPgBouncerOptions,
} from "./temporary-pgbouncer.js";
export type { RestartMode, TemporaryPostgres } from "./temporary-postgres.js";
export type { TemporaryPostgresOptions } from "./temporary-postgres-options.js";
