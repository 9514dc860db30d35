import type { Page } from "./pages.js";

/**
 * How a snippet is checked, as the comment before its fence says:
 *
 * - `<!-- snippet: compile -->`: it is a whole module that compiles
 * - `<!-- snippet: run -->`: it compiles and runs, without a server
 * - `<!-- snippet: tested in path -->`: its lines stand in that test file, which runs them
 */
export type SnippetCheck =
  | { readonly kind: "compile" | "run" }
  | { readonly kind: "tested-in"; readonly path: string };

export interface Snippet {
  readonly page: string;
  readonly line: number;
  readonly code: string;
  /** `null`: nobody said how it is checked. */
  readonly check: SnippetCheck | null;
}

/** The TypeScript fences of a page. */
export function snippetsOf({ path, text }: Page): readonly Snippet[] {
  const lines = text.split("\n");
  const snippets: Snippet[] = [];
  for (let start = 0; start < lines.length; start++) {
    if (!/^```(ts|typescript)\b/.test(lines[start] ?? "")) continue;
    const end = lines.indexOf("```", start + 1);
    snippets.push({
      page: path,
      line: start + 1,
      code: lines.slice(start + 1, end).join("\n"),
      check: parseCheck(lines[start - 1] ?? ""),
    });
    start = end;
  }
  return snippets;
}

function parseCheck(line: string): SnippetCheck | null {
  const [, words] = /^<!-- snippet: (.+) -->$/.exec(line.trim()) ?? [];
  if (words === "compile" || words === "run") return { kind: words };
  const [, path] = /^tested in (.+)$/.exec(words ?? "") ?? [];
  return path === undefined ? null : { kind: "tested-in", path };
}
