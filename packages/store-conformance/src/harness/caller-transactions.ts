/** Transactions of the application, as a caller of `enqueue` has them. */
export interface CallerTransactions {
  /** Opens a transaction on a connection of its own, at the isolation level asked for. */
  begin(options?: { readonly isolation?: IsolationLevel }): Promise<CallerTransaction>;
  /** Levels that `begin` accepts; the first is the default and must be one where A10 holds in full. */
  readonly isolationLevels: readonly IsolationLevel[];
  /** Two transactions can be open and write at the same time (in SQLite they cannot). */
  readonly concurrent: boolean;
}

export type IsolationLevel = "read-committed" | "repeatable-read" | "snapshot" | "serializable";

export interface CallerTransaction {
  /** What the caller passes as `enqueue(..., { tx })`. */
  readonly tx: unknown;
  commit(): Promise<void>;
  /** After `commit` it is harmless. */
  rollback(): Promise<void>;
}

/** A handle that looks like a transaction and is none; `enqueue` must refuse it. */
export interface NonTransaction {
  /** E.g. `a pool`, `a client outside a transaction`. */
  readonly description: string;
  readonly tx: unknown;
}
