import { randomBytes } from "node:crypto";
import pg from "pg";
import { queryServer } from "./query-server.js";

export interface CreateDatabaseOptions {
  /**
   * The database to copy; nobody may be connected to it.
   * @defaultValue `"template0"`, an empty one
   */
  readonly template?: string;
}

/**
 * Creates a database on any server.
 *
 * @param serverUrl - URL of an existing database, whose user may create databases
 * @param name - defaults to a random one
 * @returns the URL of the new database, with the same user
 */
export async function createDatabase(
  serverUrl: string,
  name: string = `outbox_${randomBytes(6).toString("hex")}`,
  { template = "template0" }: CreateDatabaseOptions = {},
): Promise<string> {
  await queryServer(
    serverUrl,
    `create database ${pg.escapeIdentifier(name)} template ${pg.escapeIdentifier(template)}`,
  );
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/** Drops the database of `databaseUrl`, ending whatever is still connected to it. */
export async function dropDatabase(serverUrl: string, databaseUrl: string): Promise<void> {
  const name = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
  await queryServer(serverUrl, `drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
}
