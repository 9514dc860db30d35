import type { OutboxNames } from "../outbox-names.js";

/**
 * One step of the schema. Numbered and immutable once released; additive, so that workers of the
 * version before keep running beside it during a rolling upgrade.
 */
export interface Migration {
  readonly version: number;
  /** What it brings, for the migration table. */
  readonly name: string;
  /** Complete statements, each with its semicolon. */
  sql(names: OutboxNames): string;
}
