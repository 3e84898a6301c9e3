/**
 * Writes the licences of everything that esbuild put into the bundles of dist, as their authors ask of whoever
 * distributes them.
 *
 * usage: node scripts/third-party-licenses.mjs METAFILE... > dist/THIRD-PARTY-LICENSES.txt
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const inputs = process.argv.slice(2).flatMap((metafile) => Object.keys(JSON.parse(readFileSync(metafile)).inputs));
const packages = new Set(inputs.flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []));

/** One text for all packages that share it: the SDK is hundreds of packages under one licence. */
const packagesByText = new Map();
for (const folder of [...packages].sort()) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json')));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const text =
    files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n') || `Licence: ${license}`;
  packagesByText.set(text, [...(packagesByText.get(text) ?? []), `${name} ${version}`]);
}

console.log('The bundles of this package contain the following third-party software.');
for (const [text, names] of packagesByText) console.log(`\n${'-'.repeat(80)}\n${names.join('\n')}\n\n${text}`);
