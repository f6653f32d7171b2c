// Builds src/ into the files that the Python package ships: what every page gets, and the editor.
// `node build.mjs --check` builds in memory and fails if a shipped file differs.
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const SHIPPED = here("../toolbench/widgets/frontend");

const { outputFiles } = await build({
  entryPoints: { module: here("src/index.ts"), editor: here("src/editor.ts"), style: here("src/style/index.css") },
  outdir: SHIPPED,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "ascii",
  legalComments: "inline",
  banner: {
    js: "// Built from frontend/src by `make frontend`; do not edit.",
    css: "/* Built from frontend/src/style by `make frontend`; do not edit. */",
  },
  write: false,
});
for (const { path, text } of outputFiles) {
  if (!process.argv.includes("--check")) {
    writeFileSync(path, text);
    console.log(`${basename(path)}: ${text.length} bytes`);
  } else if (readFileSync(path, "utf8") !== text) {
    console.error(`${path} is not what frontend/src builds: run \`make frontend\`.`);
    process.exit(1);
  }
}
