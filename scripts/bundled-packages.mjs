import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the packages in the bundles, in the order of their folders. Reads esbuild's metafiles. */
export function bundledPackages(metafiles) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(JSON.parse(readFileSync(metafile)).inputs));
  const folders = new Set(inputs.flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []));
  return [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json')));
    return { folder, name, version, license };
  });
}
