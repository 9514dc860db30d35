export { postgresCapabilities } from "./capabilities.js";
export {
  createPostgresDriver,
  createPostgresStore,
  type PostgresConnectionOptions,
  type PostgresStore,
  type PostgresStoreOptions,
} from "./create-postgres-store.js";
export type {
  PostgresTransaction,
  QueryableTransaction,
  TransactionFunction,
} from "./transaction.js";
export { withTransaction } from "./with-transaction.js";
