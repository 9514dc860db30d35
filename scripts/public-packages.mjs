import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./turbo.mjs";

/**
 * Every package that is published, in the order of their names.
 *
 * @returns {{ folder: string, manifestPath: string, manifest: any }[]}
 */
export const publicPackages = () =>
  readdirSync(join(root, "packages"))
    .sort()
    .map((name) => {
      const folder = join(root, "packages", name);
      const manifestPath = join(folder, "package.json");
      return { folder, manifestPath, manifest: JSON.parse(readFileSync(manifestPath, "utf8")) };
    })
    .filter(({ manifest }) => !manifest.private);
