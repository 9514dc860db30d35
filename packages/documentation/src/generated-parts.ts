import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./pages.js";
import { storeTable } from "./store-table.js";

/** What of a page is written by a program, between `<!-- name:begin -->` and `<!-- name:end -->`. */
const parts = [{ page: "README.md", name: "stores", content: storeTable }] as const;

/** The pages as they should be. */
export function pagesWithGeneratedParts(): readonly {
  readonly page: string;
  readonly current: string;
  readonly wanted: string;
}[] {
  return parts.map(({ page, name, content }) => {
    const current = readFileSync(join(repository, page), "utf8");
    const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
    const [from, to] = [current.indexOf(begin), current.indexOf(end)];
    if (from === -1 || to < from) throw new Error(`${page} lacks ${begin} … ${end}`);
    const wanted = `${current.slice(0, from + begin.length)}\n${content()}\n${current.slice(to)}`;
    return { page, current, wanted };
  });
}

export function writeGeneratedParts(): void {
  for (const { page, wanted } of pagesWithGeneratedParts()) {
    writeFileSync(join(repository, page), wanted);
  }
}
