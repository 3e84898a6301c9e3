/**
 * Writes a bill of materials (CycloneDX 1.6) for scanners. It lists the packages that the bundles of dist contain. npm
 * does not list these packages, because users do not install them. The file has no time and no serial number, so two
 * builds of one commit are identical.
 *
 * usage: node scripts/bill-of-materials.mjs METAFILE... > dist/bom.json
 */
import { readFileSync } from 'node:fs';
import { bundledPackages } from './bundled-packages.mjs';

const { name, version, license } = JSON.parse(readFileSync('package.json'));

console.log(
  JSON.stringify(
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: { component: component({ name, version, license }) },
      components: bundledPackages(process.argv.slice(2)).map(component),
    },
    null,
    2,
  ),
);

function component({ name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type: 'library', 'bom-ref': purl, name, version, purl, licenses: [{ license: { id: license } }] };
}
