import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** A Markdown page, by its path from the root of the repository. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** What users read: the README, the pages in docs, and the examples' own. */
export function readPages(): readonly Page[] {
  const paths = ["README.md", ...markdownBelow("docs"), ...markdownBelow("examples")];
  return paths.map((path) => ({ path, text: readFileSync(join(repository, path), "utf8") }));
}

function markdownBelow(folder: string): readonly string[] {
  return readdirSync(join(repository, folder), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name.endsWith(".md"))
    .map((file) => relative(repository, join(file.parentPath, file.name)))
    .filter((path) => !path.includes("node_modules"))
    .sort();
}
