/** This process's environment, without what would change how a server or `initdb` behaves. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  // PGPORT, PGDATA, PGOPTIONS and their kind are meant for the developer's own server.
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("PG"));
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}
