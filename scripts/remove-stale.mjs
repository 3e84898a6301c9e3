// Removes the files of dist whose sources no longer exist, because the package would contain these files. The script
// keeps the other files, so that a build remains fast.
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The folders of dist that the build writes. For each folder, a function returns the paths of the possible sources of a
 * file.
 */
const SOURCES = {
  lib: (file) => [`lib/${file.replace(/(\.d\.ts|\.js)$/, '.ts')}`],
  esm: (file) => [`lib/${file.replace(/\.js$/, '.ts')}`],
  lambda: (file) => [`lambda/${file.replace(/\.js$/, '.ts')}`],
  bin: (file) => [`bin/${file}`, `bin/${file.replace(/\.js$/, '.ts')}`],
};

for (const [folder, sourcesOf] of Object.entries(SOURCES)) {
  if (existsSync(join('dist', folder))) removeStale(join('dist', folder), '', sourcesOf);
}

/** Returns whether the folder still has files. */
function removeStale(root, path, sourcesOf) {
  const left = readdirSync(join(root, path), { withFileTypes: true }).filter((entry) => {
    const file = path === '' ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) return removeStale(root, file, sourcesOf);
    if (sourcesOf(file).some((source) => existsSync(source))) return true;
    rmSync(join(root, file));
    return false;
  });
  if (left.length === 0) rmdirSync(join(root, path));
  return left.length > 0;
}
