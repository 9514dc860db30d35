export { type CreateDatabaseOptions, createDatabase, dropDatabase } from "./create-database.js";
export type { PostgresVersion } from "./postgres-binaries.js";
export {
  type RestartMode,
  startTemporaryPostgres,
  type TemporaryPostgres,
  type TemporaryPostgresOptions,
} from "./temporary-postgres.js";
