import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { explore } from './explore';
import mutants from './mutants.json';
import { producerScenario } from './producer/producer-scenario';
import { BOUNDS, scenariosOf } from './scenarios';

const SCENARIOS = scenariosOf(BOUNDS.test);

describe('every schedule up to a bound', () => {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    'keeps every promise: %s',
    async (_, scenario) => {
      const { runs, failure } = await explore(scenario, { maxRuns: BOUNDS.test.maxRuns });
      expect(failure).toBeUndefined();
      expect(runs).toBeGreaterThan(10);
    },
    120_000,
  );
});

test('runs that are left out end like others that are not', async () => {
  for (const meanwhile of [undefined, 'abort', 'split'] as const) {
    const endsOf = async (prune: boolean): Promise<[runs: number, ends: string[]]> => {
      const ends = new Set<string>();
      const onEnd = (summary: string): void => void ends.add(summary);
      const bounds = { records: ['a1', 'c1'], feed: 'at once', faults: 1, meanwhile, onEnd } as const;
      const { runs, isComplete } = await explore(producerScenario('small', bounds), { prune });
      expect(isComplete).toBe(true);
      return [runs, [...ends].sort()];
    };
    const [[some, endsOfSome], [all, endsOfAll]] = [await endsOf(true), await endsOf(false)];
    expect(endsOfSome).toEqual(endsOfAll);
    expect(some).toBeLessThan(all);
  }
}, 120_000);

/** Small ones, of each domain whose scenarios say their states. */
test.each([
  'pages, of a range',
  'pages, hedged',
  'ledgers, two allocate for one owner',
  'ledgers, one allocates, one releases',
  'a reshard, by one shard',
])(
  'runs that go on once from each state stand for all: %s',
  async (name) => {
    const scenario = SCENARIOS.find((each) => each.name === name)!;
    const [some, all] = [await explore(scenario), await explore(scenario, { onceFromEachState: false })];
    expect(some).toMatchObject({ covered: all.runs, depth: all.depth, isComplete: true });
    expect(some.runs).toBeLessThan(all.runs);
  },
  120_000,
);

/** `npm run exhaustive -- --mutants` kills the others, too. */
const FEW_SCHEDULES = 100;

test('the mutants that few schedules kill are killed as the list and the decision say', () => {
  const script = ['scripts/exhaustive.mjs', '--mutants', '--at-most', String(FEW_SCHEDULES)];
  const { status, stdout } = spawnSync(process.execPath, script, { encoding: 'utf8' });
  expect(stdout).toContain('0 wrong');
  expect(status).toBe(0);
}, 300_000);

test.each(mutants)('the mutant of a rule has its place and its scenario: $rule', ({ file, text, scenario }) => {
  expect(readFileSync(file, 'utf8').split(text)).toHaveLength(2);
  expect(SCENARIOS.map(({ name }) => name)).toContain(scenario);
});
