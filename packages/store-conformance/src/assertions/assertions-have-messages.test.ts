import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

// `assert(value)` without a message makes Node.js read the call from the source file to quote it,
// which never ends where a loader has moved the lines.
test("no assertion of a case is left without a message", () => {
  const folder = new URL("../cases/", import.meta.url);
  const bare = readdirSync(folder).flatMap((file) =>
    [...readFileSync(new URL(file, folder), "utf8").matchAll(/\bassert\([^,"`\n]*\);/g)].map(
      ([call]) => `${file}: ${call}`,
    ),
  );
  expect(bare).toEqual([]);
});
