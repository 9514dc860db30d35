import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { type Snippet, snippetsOf } from "./markdown-snippets.js";
import { readPages, repository } from "./pages.js";
import { compileFiles, writeSnippetFiles } from "./snippet-files.js";

const snippets = readPages().flatMap(snippetsOf);
const compiled = snippets.filter(({ check }) => check?.kind === "compile" || check?.kind === "run");
const paths = writeSnippetFiles(compiled);
const pathOf = (snippet: Snippet) => paths[compiled.indexOf(snippet)] ?? "";
const where = ({ page, line }: Snippet) => `${page}:${line}`;

describe("snippets in README and docs", () => {
  it("say how they are checked", () => {
    expect(snippets.filter(({ check }) => check === null).map(where)).toEqual([]);
  });

  it("compile", () => {
    expect(compiled.length).toBeGreaterThan(5);
    expect(compileFiles(paths)).toEqual([]);
  });

  it.each(
    compiled
      .filter(({ check }) => check?.kind === "run")
      .map((snippet) => [where(snippet), snippet]),
  )("%s runs", async (_, snippet) => {
    const flags = ["--conditions=@outbox/source", "--import", "tsx"];
    await promisify(execFile)(process.execPath, [...flags, pathOf(snippet as Snippet)], {
      timeout: 60_000,
    });
  });

  it.each(
    snippets
      .filter(({ check }) => check?.kind === "tested-in")
      .map((snippet) => [where(snippet), snippet]),
  )("%s stands in the test that runs it", (_, snippet) => {
    const { check, code } = snippet as Snippet;
    const path = check?.kind === "tested-in" ? join(repository, check.path) : "";
    expect(existsSync(path), `${path} exists`).toBe(true);
    const tested = withoutSpace(readFileSync(path, "utf8"));
    const missing = code.split("\n").filter((line) => !tested.includes(withoutSpace(line)));
    expect(missing).toEqual([]);
  });
});

/** Indentation differs between a page and a test; words do not. */
function withoutSpace(text: string): string {
  return text.replaceAll(/\s+|,(?=\s*[)\]}])/g, "");
}
