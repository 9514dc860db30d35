import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, dropDatabase } from "./create-database.js";
import { testPostgresServers } from "./vitest.js";

describe.each(testPostgresServers())("the server of the run, PostgreSQL $version", (server) => {
  let url: string;
  beforeAll(async () => {
    url = await createDatabase(server.url);
  });
  afterAll(() => dropDatabase(server.url, url));

  it("has the version that was asked for, and room for a database of each test file", async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query("show server_version");
    await client.end();
    expect(rows).toEqual([{ server_version: expect.stringMatching(`^${server.version}\\.`) }]);
  });
});
