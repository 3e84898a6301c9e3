import { version as cdk } from 'aws-cdk-lib/package.json';
import { version as constructs } from 'constructs/package.json';

/**
 * The lowest supported versions. They are equal to the peer dependencies in `package.json`.
 * `docs/decisions/0007-tested-against-the-oldest-and-the-newest-cdk.md` has the reasons.
 */
const LOWEST = { 'aws-cdk-lib': '2.236.0', constructs: '10.4.2' };

/**
 * Checks the versions before any construct loads. Otherwise an older version fails with a `TypeError` somewhere in a
 * construct. yarn and pnpm only warn of an old peer dependency, and so does `npm install --legacy-peer-deps`.
 *
 * @param versions the installed versions
 * @throws if a package is older than its lowest supported version
 */
export function requireSupportedCdk(versions: typeof LOWEST = { 'aws-cdk-lib': cdk, constructs }): void {
  const old = (['aws-cdk-lib', 'constructs'] as const).filter((name) => isOlder(versions[name], LOWEST[name]));
  if (old.length === 0) return;
  const needs = old.map((name) => `${name} ${LOWEST[name]} or newer, found ${versions[name]}`).join(', and ');
  const update = old.map((name) => `${name}@^${LOWEST[name]}`).join(' ');
  throw new Error(`cdk-even-shards needs ${needs}: update with npm install ${update}`);
}

function isOlder(version: string, lowest: string): boolean {
  const [one, other] = [version, lowest].map((text) => text.split(/[.+-]/).map(Number));
  const differing = [0, 1, 2].find((place) => one![place] !== other![place]);
  return differing !== undefined && one![differing]! < other![differing]!;
}
