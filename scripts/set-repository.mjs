// Before publishing: npm accepts a provenance statement only from the repository that the manifest
// names, and only the release workflow knows its own. Run there; the change is not committed.
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { publicPackages } from "./public-packages.mjs";
import { root } from "./turbo.mjs";

const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
if (!server || !repository) {
  throw new Error("Publishing runs in the release workflow: it sets GITHUB_REPOSITORY.");
}
for (const { folder, manifestPath, manifest } of publicPackages()) {
  manifest.repository = {
    type: "git",
    url: `git+${server}/${repository}.git`,
    directory: relative(root, folder).replaceAll("\\", "/"),
  };
  writeFileSync(manifestPath, `${JSON.stringify(manifest, null, 2)}\n`);
}
