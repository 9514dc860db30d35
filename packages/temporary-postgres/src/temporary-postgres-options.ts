import { type PostgresVersion, postgresVersions } from "./postgres-version.js";

export interface TemporaryPostgresOptions {
  /**
   * Major version of PostgreSQL.
   * @defaultValue `18`
   */
  readonly version?: PostgresVersion;
  /** Further settings of postgresql.conf, such as `{ max_connections: "500" }`; they win over all others. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * Whether commits reach the disk, as in production. With `false` tests run faster; a crash of the
   * operating system, not of the server, may then lose data.
   * @defaultValue `true`
   */
  readonly durable?: boolean;
}

export interface ResolvedTemporaryPostgresOptions {
  readonly version: PostgresVersion;
  /** All settings that differ from PostgreSQL's own defaults. */
  readonly settings: Readonly<Record<string, string>>;
}

/** @throws RangeError naming the rule that is broken */
export function resolveTemporaryPostgresOptions({
  version = 18,
  settings = {},
  durable = true,
}: TemporaryPostgresOptions): ResolvedTemporaryPostgresOptions {
  if (!postgresVersions.includes(version)) {
    throw new RangeError(`version must be one of ${postgresVersions.join(", ")}, not ${version}.`);
  }
  for (const [name, value] of Object.entries(settings)) {
    if (!/^[a-z_][a-z0-9_.]*$/i.test(name)) {
      throw new RangeError(`settings must have names of PostgreSQL settings, unlike "${name}".`);
    }
    if (/[\n\r]/.test(value)) throw new RangeError(`settings.${name} must be a single line.`);
  }
  const speed = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
  return {
    version,
    settings: {
      listen_addresses: "127.0.0.1",
      // A socket's path may have no more than some hundred bytes, and nothing here connects by one.
      unix_socket_directories: "",
      max_connections: "200",
      ...(durable ? {} : speed),
      ...settings,
    },
  };
}
