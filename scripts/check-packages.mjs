// Checks what users would install: every public package is packed, then the tarball goes through
// publint and attw, and its entries are resolved and its main entry imported by plain Node.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { publicPackages } from "./public-packages.mjs";
import { root } from "./turbo.mjs";

const temporaryFolder = mkdtempSync(join(tmpdir(), "outbox-packages-"));
const consumer = join(temporaryFolder, "consumer");

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 * @returns {boolean} whether it succeeded; what it printed is shown when it did not
 */
const run = (command, args, cwd = root) => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) console.error(error?.message ?? `${stdout}\n${stderr}`);
  return status === 0;
};

/** @param {string} name */
const bin = (name) => join(root, "node_modules", ".bin", name);

/** @param {{ folder: string, manifest: any }} package_ */
const packAndUnpack = ({ folder, manifest }) => {
  const tarball = join(temporaryFolder, `${manifest.name.replace("@", "").replace("/", "-")}.tgz`);
  const target = join(consumer, "node_modules", manifest.name);
  mkdirSync(target, { recursive: true });
  const packed =
    run("pnpm", ["pack", "--out", tarball], folder) &&
    run("tar", ["-xzf", tarball, "--strip-components=1", "-C", target]);
  if (!packed) throw new Error(`${manifest.name} cannot be packed.`);
  return tarball;
};

/**
 * The consumer has a package's other peers, as an application would.
 * @param {{ folder: string, manifest: any }} package_
 */
const linkPeers = ({ folder, manifest }) => {
  for (const peer of Object.keys(manifest.peerDependencies ?? {})) {
    const target = join(consumer, "node_modules", peer);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(folder, "node_modules", peer), target);
  }
};

/** @param {any} manifest */
const entriesResolve = (manifest) => {
  const entries = Object.keys(manifest.exports).map((entry) => join(manifest.name, entry));
  const program = `
    import { existsSync } from "node:fs";
    import { fileURLToPath } from "node:url";
    for (const entry of ${JSON.stringify(entries)}) {
      const path = fileURLToPath(import.meta.resolve(entry));
      if (!existsSync(path)) throw new Error(entry + " is not packed: " + path);
    }
    await import(${JSON.stringify(manifest.name)});`;
  return run(process.execPath, ["--input-type=module", "--eval", program], consumer);
};

let failed = 0;
/** @param {string} title @param {boolean} ok */
const report = (title, ok) => {
  console.log(`${ok ? "ok    " : "FAILED"} ${title}`);
  if (!ok) failed += 1;
};

try {
  const packages = publicPackages();
  const tarballs = packages.map(packAndUnpack);
  packages.forEach(linkPeers);
  for (const [index, { manifest }] of packages.entries()) {
    const tarball = tarballs[index] ?? "";
    report(`${manifest.name}: publint`, run(bin("publint"), ["run", tarball, "--strict"]));
    report(`${manifest.name}: attw`, run(bin("attw"), [tarball, "--profile", "esm-only"]));
    report(`${manifest.name}: entries`, entriesResolve(manifest));
  }
  if (packages.length === 0) report("public packages exist", false);
} finally {
  rmSync(temporaryFolder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
