import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { postgresVersions } from "./postgres-version.js";
import { queryServer } from "./query-server.js";
import { startTemporaryPostgres } from "./start-temporary-postgres.js";
import { testPostgresServers } from "./vitest.js";

const setting = async (url: string, name: string) =>
  (await queryServer<{ value: string }>(url, `select current_setting('${name}') as value`))[0]
    ?.value;

const [runServer] = testPostgresServers();

/** The processes of a killed server hold its port for a moment. */
const listen = (port: number) =>
  vi.waitFor(async () => {
    const listener = createServer().listen({ port, host: "127.0.0.1" });
    await once(listener, "listening");
    return listener;
  });

describe.each(postgresVersions)("PostgreSQL %i", (version) => {
  it("starts, restarts in both modes with its data, and stops", async () => {
    const server = await startTemporaryPostgres({ version });
    onTestFinished(() => server.stop());
    expect(server.version).toBe(version);
    expect(await setting(server.url, "server_version")).toMatch(new RegExp(`^${version}\\.`));

    const url = await server.createDatabase();
    await queryServer(url, "create table kept as select 1 as id");
    for (const mode of ["fast", "immediate"] as const) {
      const { pid } = server;
      await server.restart(mode);
      expect(server.pid).not.toBe(pid);
      expect(await queryServer(url, "select * from kept")).toEqual([{ id: 1 }]);
    }
    const log = await readFile(join(server.dataDirectory, "..", "server.log"), "utf8");
    expect(log).toContain("received fast shutdown request");
    expect(log).toContain("automatic recovery in progress");

    await Promise.all([server.stop(), server.stop()]);
    expect(existsSync(dirname(server.dataDirectory))).toBe(false);
    await expect(queryServer(url, "select 1")).rejects.toThrow("ECONNREFUSED");
    await expect(server.restart()).rejects.toThrow("was stopped");
  });
});

describe("a temporary PostgreSQL", () => {
  it("is durable unless told otherwise, and takes further settings", async () => {
    await using durable = await startTemporaryPostgres();
    expect(await setting(durable.url, "fsync")).toBe("on");
    expect(await setting(durable.url, "synchronous_commit")).toBe("on");
    expect(await setting(durable.url, "listen_addresses")).toBe("127.0.0.1");
    expect(await setting(durable.url, "server_encoding")).toBe("UTF8");

    const settings = { max_connections: "20", "my.note": "it's \\ here", full_page_writes: "on" };
    await using fast = await startTemporaryPostgres({ durable: false, settings });
    expect(await setting(fast.url, "fsync")).toBe("off");
    expect(await setting(fast.url, "full_page_writes")).toBe("on");
    expect(await setting(fast.url, "max_connections")).toBe("20");
    expect(await setting(fast.url, "my.note")).toBe("it's \\ here");
  });

  it("asks for its password", async () => {
    const url = new URL(runServer.url);
    url.password = "guess";
    await expect(queryServer(url.href, "select 1")).rejects.toThrow("password");
  });

  it("is restarted after its main process was killed, and waits for its port", async () => {
    await using server = await startTemporaryPostgres({ durable: false });
    process.kill(server.pid, "SIGKILL");
    await server.restart();
    await queryServer(server.url, "select 1");

    process.kill(server.pid, "SIGKILL");
    const squatter = await listen(server.port);
    setTimeout(() => squatter.close(), 300);
    await server.restart();
    await queryServer(server.url, "select 1");
  });

  it.runIf(process.platform === "linux")("leaves no shared memory if it was killed", async () => {
    const segments = () => readFile("/proc/sysvipc/shm", "utf8");
    const server = await startTemporaryPostgres({ durable: false });
    const lockFile = await readFile(join(server.dataDirectory, "postmaster.pid"), "utf8");
    const segment = new RegExp(`^ *${lockFile.split("\n")[6]?.trim().replace(/ +/, " +")} `, "m");
    expect(await segments()).toMatch(segment);
    // The other kind is in the folder.
    expect(await setting(server.url, "dynamic_shared_memory_type")).toBe("mmap");

    process.kill(server.pid, "SIGKILL");
    await server.stop();
    expect(await segments()).not.toMatch(segment);
  });

  it("runs restarts one after the other, and ends them when it is stopped", async () => {
    await using server = await startTemporaryPostgres({ durable: false });
    await Promise.all([server.restart("immediate"), server.restart("immediate")]);
    await queryServer(server.url, "select 1");
    const restart = server.restart().catch((error: unknown) => error);
    await server.stop();
    expect(await restart).toBeInstanceOf(Error);
    expect(existsSync(dirname(server.dataDirectory))).toBe(false);
  });

  it("says why it did not start, and what to check", async () => {
    const start = startTemporaryPostgres({ settings: { shared_buffers: "plenty" } });
    await expect(start).rejects.toThrow(
      /PostgreSQL 18 ended while it started[\s\S]*invalid value for parameter "shared_buffers"[\s\S]*Check the `settings`/,
    );
  });
});
