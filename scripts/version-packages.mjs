// Applies the changesets. A peer dependency whose version changes makes changesets release the
// dependent as a major version, so every 0.x minor of core would become 1.0.0 of all packages. The
// packages are one fixed group and their peer ranges are `workspace:^`, so nothing needs that rule:
// hide those peers while changesets computes.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publicPackages } from "./public-packages.mjs";
import { root } from "./turbo.mjs";

/** @param {string} path @param {unknown} manifest */
const write = (path, manifest) => writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);

/** @param {Record<string, string>} peers */
const withoutWorkspacePeers = (peers) =>
  Object.fromEntries(Object.entries(peers).filter(([, range]) => !range.startsWith("workspace:")));

const packages = publicPackages().filter(({ manifest }) => manifest.peerDependencies);
for (const { manifestPath, manifest } of packages) {
  const peerDependencies = withoutWorkspacePeers(manifest.peerDependencies);
  write(manifestPath, { ...manifest, peerDependencies });
}
const changesets = join(root, "node_modules", "@changesets", "cli", "bin.js");
const { status } = spawnSync(process.execPath, [changesets, "version"], {
  cwd: root,
  stdio: "inherit",
});
for (const { manifestPath, manifest } of packages) {
  const { version } = JSON.parse(readFileSync(manifestPath, "utf8"));
  write(manifestPath, { ...manifest, version });
}
process.exitCode = status ?? 1;
