// Builds static/convengine/ce-editor.js, and the list of what is in it with its licences.
import {build} from "esbuild";
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";

const OUT = "../static/convengine";
// What a test compares with the sources: a built file that is older than they are is found out.
const sources = createHash("sha256");
for (const name of ["editor.js", "build.mjs", "package-lock.json"]) sources.update(readFileSync(name));
const made = sources.digest("hex").slice(0, 16);
const built = await build({
    entryPoints: ["editor.js"], outfile: `${OUT}/ce-editor.js`, bundle: true, minify: true, format: "iife", target: "es2022",
    charset: "utf8", metafile: true, legalComments: "none", banner: {js: `/* Built by make assets from assets/editor.js (${made}). What it is made of: ce-editor.licences.txt */`},
});

const packages = [...new Set(Object.keys(built.metafile.inputs).flatMap((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []))].sort();
const told = packages.map((name) => {
    const {version, license} = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
    return {name, line: `${name} ${version} (${license})`, text: readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()};
});
const texts = new Map();
for (const one of told) texts.set(one.text, [...(texts.get(one.text) ?? []), one]);
writeFileSync(`${OUT}/ce-editor.licences.txt`, [
    "ce-editor.js is made of:\n", ...told.map((one) => one.line), "",
    ...[...texts].map(([text, ones]) => `--- ${ones.map((one) => one.name).join(", ")}\n\n${text}\n`),
].join("\n"));
