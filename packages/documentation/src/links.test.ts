import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { readPages, repository } from "./pages.js";

it("links between pages lead somewhere", () => {
  const broken = readPages().flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, target]) => target ?? "")
      .filter((target) => !existsSync(join(repository, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  );
  expect(broken).toEqual([]);
});

it("nothing claims to deliver exactly once", () => {
  const claims = readPages().flatMap(({ path, text }) =>
    text
      .split("\n")
      .filter((line) => /exactly[- ]once/i.test(line))
      // A decision record may say why it is not promised.
      .filter((line) => !/\b(no|not|never|cannot)\b/i.test(line))
      .map((line) => `${path}: ${line}`),
  );
  expect(claims).toEqual([]);
});
