// Builds what the admin runs in the browser and did not write itself, and lists what is in it with its licences.
import {build} from "esbuild";
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";

const OUT = "../static/convengine";

for (const name of ["editor", "layout"]) {
    // What a test compares with the sources: a built file that is older than they are is found out.
    const sources = createHash("sha256");
    for (const source of [`${name}.js`, "build.mjs", "package-lock.json"]) sources.update(readFileSync(source));
    const made = sources.digest("hex").slice(0, 16);
    const built = await build({
        entryPoints: [`${name}.js`], outfile: `${OUT}/ce-${name}.js`, bundle: true, minify: true, format: "iife", target: "es2022",
        charset: "utf8", metafile: true, legalComments: "none",
        banner: {js: `/* Built by make assets from .assets/${name}.js (${made}). What it is made of: ce-${name}.licences.txt */`},
    });

    const packages = [...new Set(Object.keys(built.metafile.inputs).flatMap((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []))].sort();
    const told = packages.map((one) => {
        const {version, license} = JSON.parse(readFileSync(`node_modules/${one}/package.json`, "utf8"));
        return {name: one, line: `${one} ${version} (${license})`, text: readFileSync(`node_modules/${one}/LICENSE`, "utf8").trim()};
    });
    const texts = new Map();
    for (const one of told) texts.set(one.text, [...(texts.get(one.text) ?? []), one]);
    writeFileSync(`${OUT}/ce-${name}.licences.txt`, [
        `ce-${name}.js is made of:\n`, ...told.map((one) => one.line), "",
        ...[...texts].map(([text, ones]) => `--- ${ones.map((one) => one.name).join(", ")}\n\n${text}\n`),
    ].join("\n"));
}
