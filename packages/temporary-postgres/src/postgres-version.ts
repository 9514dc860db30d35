/** The major versions of PostgreSQL that can be started. */
export type PostgresVersion = 17 | 18;

export const postgresVersions: readonly PostgresVersion[] = [17, 18];
