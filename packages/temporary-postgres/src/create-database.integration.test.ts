import { expect, it } from "vitest";
import { createDatabase, dropDatabase } from "./create-database.js";
import { queryServer } from "./query-server.js";
import { testPostgresServers } from "./vitest.js";

const [server] = testPostgresServers();

it("a database is created from a template, under any name, and dropped while it is in use", async () => {
  const template = await createDatabase(server.url, 'some "odd" name');
  await queryServer(template, "create table copied ()");
  const copy = await createDatabase(server.url, undefined, { template: 'some "odd" name' });
  expect(await queryServer(copy, "select from copied")).toEqual([]);

  const sleep = queryServer(copy, "select pg_sleep(60)").catch((error: unknown) => String(error));
  await dropDatabase(server.url, copy);
  expect(await sleep).toMatch(/terminat|does not exist/);
  await expect(queryServer(copy, "select 1")).rejects.toThrow("does not exist");
  await dropDatabase(server.url, template);
});
