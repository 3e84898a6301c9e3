/**
 * Prints the licences of the packages in the bundles of dist, because the licences require a distributor to include
 * their text. Fails if a licence is not in the list of allowed licences.
 *
 * usage: node scripts/third-party-licenses.mjs METAFILE... > dist/THIRD-PARTY-LICENSES.txt
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages } from './bundled-packages.mjs';

/** Licences that require only a copy of their text, so that bundles may contain the packages. */
const ALLOWED = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'MIT-0'];

/**
 * Prints a licence text once for all packages that share it, because the SDK has hundreds of packages with the same
 * licence.
 */
const packagesByText = new Map();
for (const { folder, name, version, license } of bundledPackages(process.argv.slice(2))) {
  if (!ALLOWED.includes(license)) throw new Error(`the licence of ${name} ${version} is not allowed: ${license}`);
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const text =
    files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n') || `Licence: ${license}`;
  packagesByText.set(text, [...(packagesByText.get(text) ?? []), `${name} ${version}`]);
}

console.log('The bundles of this package contain the following third-party software.');
for (const [text, names] of packagesByText) console.log(`\n${'-'.repeat(80)}\n${names.join('\n')}\n\n${text}`);
