import { describe, expect, it } from "vitest";
import { resolveTemporaryPostgresOptions } from "./temporary-postgres-options.js";

describe("options of a temporary PostgreSQL", () => {
  it.each([
    // From JavaScript, or a number that was computed.
    [{ version: 16 as 17 }, "version must be one of 17, 18, not 16."],
    [
      { settings: { "work mem": "1MB" } },
      'settings must have names of PostgreSQL settings, unlike "work mem".',
    ],
    [{ settings: { work_mem: "1\nfsync=off" } }, "settings.work_mem must be a single line."],
  ])("%j: %s", (options, message) => {
    expect(() => resolveTemporaryPostgresOptions(options)).toThrow(new RangeError(message));
  });

  it("let given settings win", () => {
    const { settings } = resolveTemporaryPostgresOptions({
      durable: false,
      settings: { fsync: "on", max_connections: "7" },
    });
    expect(settings).toMatchObject({ fsync: "on", full_page_writes: "off", max_connections: "7" });
  });
});
