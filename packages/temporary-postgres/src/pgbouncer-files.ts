import { join } from "node:path";

export interface PgBouncerFilesOptions {
  readonly url: string;
  readonly folder: string;
  readonly port: number;
  readonly poolMode: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** The configuration files of one PgBouncer, by name. */
export function pgBouncerFiles(options: PgBouncerFilesOptions): ReadonlyMap<string, string> {
  const { hostname, port, username, password } = new URL(options.url);
  const userList = join(options.folder, "userlist.txt");
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: String(options.port),
    unix_socket_dir: "",
    // With the password in plain text, PgBouncer can check that of clients and log in to a server
    // that asks for SCRAM; from SCRAM secrets alone it could not.
    auth_type: "scram-sha-256",
    auth_file: userList,
    admin_users: decodeURIComponent(username),
    pool_mode: options.poolMode,
    max_client_conn: "500",
    default_pool_size: "20",
    // Sent by JDBC and others at login; PgBouncer refuses what it cannot track.
    ignore_startup_parameters: "extra_float_digits",
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return new Map([
    [
      "pgbouncer.ini",
      `[databases]\n* = host=${hostname} port=${port || "5432"}\n\n[pgbouncer]\n${lines.join("\n")}\n`,
    ],
    ["userlist.txt", `${quoted(username)} ${quoted(password)}\n`],
  ]);
}

function quoted(urlPart: string): string {
  return `"${decodeURIComponent(urlPart).replaceAll('"', '""')}"`;
}
