// Bundles src/main.js with three.js into the one script that kumitate writes into its pages.
import { build } from "esbuild";
import { readFile } from "node:fs/promises";

const licence = await readFile("node_modules/three/LICENSE", "utf8");

await build({
  entryPoints: ["src/main.js"],
  outfile: "../src/kumitate/view/assets/player.js",
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  banner: { js: `/*! Built from viewer/ by scripts/build-viewer. Contains three.js:\n\n${licence.trim()}\n*/` },
  logLevel: "info",
});
