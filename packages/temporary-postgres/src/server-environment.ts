/** This process's environment, without what would change how a server or `initdb` behaves. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    // PGPORT, PGDATA, PGOPTIONS and their kind are meant for the developer's own server.
    ([name]) => !/^(PG|LC_|LANG|NODE_)/.test(name),
  );
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}
