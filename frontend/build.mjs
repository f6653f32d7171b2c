// Builds src/ into the one file that the Python package ships.
// `node build.mjs --check` builds in memory and fails if the shipped file differs.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const SHIPPED = here("../toolbench/widgets/frontend/module.js");

const { outputFiles } = await build({
  entryPoints: [here("src/index.ts")],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "ascii",
  legalComments: "inline",
  banner: { js: "// Built from frontend/src by `make frontend`; do not edit." },
  write: false,
});
const code = outputFiles[0].text;
if (!process.argv.includes("--check")) {
  writeFileSync(SHIPPED, code);
  console.log(`${code.length} bytes`);
} else if (readFileSync(SHIPPED, "utf8") !== code) {
  console.error("toolbench/widgets/frontend/module.js is not what frontend/src builds: run `make frontend`.");
  process.exit(1);
}
