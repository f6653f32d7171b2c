// Puts the widget managers of other front ends into node_modules/.managers, and bundles page.js beside them.
// Both managers are whole in their own file: what their packages depend on is not fetched.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const FOLDER = `${HERE}node_modules/.managers`;
const PACKAGES = {
  "@vscode/jupyter-ipywidgets8@1.0.9":
    "sha512-bocCThfa4JDIDd7qCFAfW3HpzHfTLYxOTpTbiDfw4DXOUjKHnr6ObkMBiIkuzYPRybh5bY4FhYLemuDuTvIbpQ==",
  "@jupyter-widgets/html-manager@1.0.15":
    "sha512-5thBIV6ymNgmPVOHvzx+gGy8ZSKmSazhtGw4/c4xJDVzRhG9PTeQsRjF3FUTopvFi//SABeNz1yp47bCrJ3CQA==",
};

rmSync(FOLDER, { recursive: true, force: true });
for (const [name, integrity] of Object.entries(PACKAGES)) {
  const target = `${FOLDER}/${name.replace(/^@.*\/(.*)@.*$/, "$1")}`;
  mkdirSync(target, { recursive: true });
  const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json", name], { cwd: target, encoding: "utf8" }));
  if (packed.integrity !== integrity) {
    throw new Error(`${name} is not the package that was tested: its integrity is ${packed.integrity}.`);
  }
  execFileSync("tar", ["-xzf", packed.filename, "--strip-components=1"], { cwd: target });
}
await build({
  entryPoints: [`${HERE}page.js`],
  bundle: true,
  external: ["./jupyter-ipywidgets8/*"],
  format: "esm",
  outfile: `${FOLDER}/page.js`,
});
