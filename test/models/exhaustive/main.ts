import { asTest, explore } from './explore';
import { BOUNDS, scenariosOf } from './scenarios';

// node main.js (test | mutant | full) MAX_RUNS [WORDS] explores each scenario whose name contains WORDS, with at most MAX_RUNS
// runs. If MAX_RUNS is 0, the bound has its default number of runs. Prints a line of JSON for each scenario, and prints the
// progress to the error stream.
const [boundName, mostRuns, ...words] = process.argv.slice(2);
const bound = BOUNDS[boundName as keyof typeof BOUNDS];
const shortest = boundName !== 'mutant';
const maxRuns = Number(mostRuns) || bound.maxRuns;

// Runs create many errors, and their stack traces are not needed.
Error.stackTraceLimit = 1;

async function main(): Promise<void> {
  for (const scenario of scenariosOf(bound).filter(({ name }) => name.includes(words.join(' ')))) {
    const startedAt = performance.now();
    const seconds = (): number => Math.round((performance.now() - startedAt) / 100) / 10;
    const onProgress = (runs: number): void => console.error(`  ${scenario.name}: ${runs} schedules, ${seconds()} s`);
    const { failure, ...found } = await explore(scenario, { maxRuns, shortest, onProgress });
    const broken = failure && { promise: failure.error.message, test: asTest(JSON.stringify(scenario.name), failure) };
    console.log(JSON.stringify({ name: scenario.name, ...found, seconds: seconds(), broken }));
  }
}

void main();
