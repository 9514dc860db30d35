import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import type { Snippet } from "./markdown-snippets.js";

// Inside this package, so that imports resolve as they do here. Git ignores it.
const folder = fileURLToPath(new URL("../.snippets/", import.meta.url));

/** Writes each snippet to a file of its own; returns the paths, in order. */
export function writeSnippetFiles(snippets: readonly Snippet[]): readonly string[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return snippets.map(({ page, line, code }) => {
    const path = join(folder, `${page.replaceAll(/[^a-z0-9]+/gi, "-")}-line-${line}.ts`);
    // A snippet without imports is a module too.
    writeFileSync(path, `${code}\nexport {};\n`);
    return path;
  });
}

/** The compiler's complaints about these files, one line each. */
export function compileFiles(paths: readonly string[]): readonly string[] {
  const configPath = fileURLToPath(new URL("../tsconfig.json", import.meta.url));
  const config = ts.getParsedCommandLineOfConfigFile(
    configPath,
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
        throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"));
      },
    },
  );
  const program = ts.createProgram([...paths], {
    ...config?.options,
    // A reader's snippet may show a value that it does not use.
    noUnusedLocals: false,
    noUnusedParameters: false,
  });
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const { file, start = 0 } = diagnostic;
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n");
    return `${file?.fileName ?? ""}:${line}: ${text}`;
  });
}
