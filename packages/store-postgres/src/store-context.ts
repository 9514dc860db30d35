import type { Connections, QueryOptions } from "./connections/connections.js";
import type { NotifyThrottle } from "./notify-throttle.js";
import type { OutboxNames } from "./outbox-names.js";
import { explainError } from "./schema-error.js";
import type { Row, Statement } from "./sql/statement.js";

/** What every part of the driver works with. */
export interface StoreContext {
  readonly names: OutboxNames;
  readonly connections: Connections;
  readonly onDelivered: "keep" | "delete";
  /** `null`: this store never notifies. */
  readonly notify: NotifyThrottle | null;
}

/** Runs one statement; a missing schema is said in words that help. */
export async function query(
  { connections, names }: StoreContext,
  statement: Statement,
  options?: QueryOptions,
): Promise<readonly Row[]> {
  try {
    return await connections.query(statement, options);
  } catch (error) {
    throw explainError(error, names);
  }
}
