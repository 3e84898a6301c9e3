import { engines } from '../package.json';

/** Why this version of Node.js cannot run the command; undefined if it can. */
export function nodeVersionProblem(version: string): string | undefined {
  const [major, minor] = version.split('.').map(Number) as [number, number];
  const [leastMajor, leastMinor] = engines.node.replace(/^>=/, '').split('.').map(Number) as [number, number];
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined;
  return `even-shards needs Node.js ${leastMajor}.${leastMinor} or newer, and this is ${version}`;
}
