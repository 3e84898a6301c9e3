import { engines } from '../package.json';

/**
 * The exit code after an internal error, and after a start that fails, for example because Node.js is too old. No other result
 * has this code. Source: sysexits.h, EX_SOFTWARE.
 */
export const EXIT_BROKEN = 70;

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
