import { migration0001 } from "./0001-outbox.js";
import type { Migration } from "./migration.js";

/** All of them, in order. */
export const migrations: readonly Migration[] = [migration0001];

/** The version that this package needs. */
export const latestVersion = migrations.length;
