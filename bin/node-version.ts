import { engines } from '../package.json';

/** Why this version of Node.js cannot run the command; undefined if it can. */
export function nodeVersionProblem(version: string): string | undefined {
  const [major, minor] = numbersOf(version);
  const ranges = engines.node.split(' || ');
  const runs = ranges.some((range) => {
    const [leastMajor, leastMinor] = numbersOf(range.replace(/^\D+/, ''));
    return (major === leastMajor && minor >= leastMinor) || (range.startsWith('>=') && major > leastMajor);
  });
  if (runs) return undefined;
  return `even-shards needs a Node.js version of ${engines.node}, and this is ${version}`;
}

function numbersOf(version: string): [number, number] {
  return version.split('.').map(Number) as [number, number];
}
