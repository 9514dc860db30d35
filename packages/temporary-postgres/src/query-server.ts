import pg from "pg";

/** Runs one statement on a connection of its own. */
export async function queryServer<Row extends pg.QueryResultRow>(
  url: string,
  statement: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  // A connection that breaks rejects the query; the event that repeats it would end the process.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
