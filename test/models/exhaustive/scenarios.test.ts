import { spawnSync } from 'node:child_process';
import { explore } from './explore';
import mutants from './mutants.json';
import { outboxScenario } from './outbox/outbox-scenario';
import { producerScenario } from './producer/producer-scenario';
import reached from './reached.json';
import { ledgerScenario } from './registry/ledger-scenario';
import { BOUNDS, scenariosOf } from './scenarios';

const SCENARIOS = scenariosOf(BOUNDS.test);

describe('every schedule up to a bound', () => {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    'keeps every promise of %s',
    async (_, scenario) => {
      const { covered, failure } = await explore(scenario, { maxRuns: BOUNDS.test.maxRuns });
      expect(failure).toBeUndefined();
      expect(covered).toBeGreaterThan(10);
    },
    120_000,
  );
});

test('exploring with pruned runs finds the same results as exploring all runs', async () => {
  for (const meanwhile of [[], ['abort'], ['split']] as const) {
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

const committed = (...rows: string[]) => ({ rows, ends: 'commit' }) as const;
const OUTBOX = { workers: 1, writers: [committed('a1')], ended: 1, batchRows: 1, rowsOfAKey: 1, fates: [], faults: 0 };

/** Small scenarios that describe their state, from each domain that has such scenarios. */
const SMALL = [
  ...['strays, a writer puts', 'strays, two writers, item by item', 'a table moves, a writer updates'].map(
    (name) => SCENARIOS.find((each) => each.name === name)!,
  ),
  ledgerScenario('ledgers, one allocates, an administrator moves', {
    owners: ['a'],
    work: [{ allocate: ['b'] }, { move: 'a' }],
    faults: 0,
  }),
  ledgerScenario('ledgers, one releases', {
    owners: ['a'],
    work: [{ allocate: ['a'] }, { release: ['a'] }],
    faults: 1,
  }),
  outboxScenario('the outbox, two workers', { ...OUTBOX, workers: 2 }),
  outboxScenario('the outbox, a row is parked', { ...OUTBOX, writers: [committed('a1', 'a2')] }),
  outboxScenario('the outbox, a worker crashes', { ...OUTBOX, fates: ['crashes'], faults: 1 }),
  outboxScenario('the outbox, a slot is emptied', { ...OUTBOX, rotates: true }),
  outboxScenario('the outbox, a connection stops responding', {
    ...OUTBOX,
    stopResponding: true,
    faults: ['worker 1 saves, and receives no response'],
  }),
];

test.each(SMALL.map((scenario) => [scenario.name, scenario] as const))(
  'exploring once from each state finds as many schedules as exploring all runs: %s',
  async (_, scenario) => {
    const all = await explore(scenario, { prune: false, onceFromEachState: false });
    for (const prune of [true, false]) {
      const some = await explore(scenario, { prune });
      expect(some).toMatchObject({ covered: all.runs, depth: all.depth, isComplete: true });
      expect(some.runs).toBeLessThan(all.runs);
    }
  },
  120_000,
);

test('the README of the explorer lists the bounds that each scenario reached', () => {
  expect(Object.keys(reached).sort()).toEqual(SCENARIOS.map(({ name }) => name).sort());
  const { stdout } = spawnSync(process.execPath, ['scripts/exhaustive.mjs', '--reached'], { encoding: 'utf8' });
  expect(stdout).toContain('0 wrong');
}, 30_000);

/** `npm run exhaustive -- --mutants` also runs the other mutants. */
const FEW_SCHEDULES = 3;

test('mutants.json has the correct number of schedules for each mutant that the explorer finds in at most three schedules', () => {
  const script = ['scripts/exhaustive.mjs', '--mutants', '--at-most', String(FEW_SCHEDULES)];
  const { status, stdout } = spawnSync(process.execPath, script, { encoding: 'utf8' });
  expect(stdout).toContain('0 wrong');
  expect(status).toBe(0);
}, 300_000);

test.each(mutants)('each mutant has an existing scenario: $rule', ({ scenario }) => {
  expect(SCENARIOS.map(({ name }) => name)).toContain(scenario);
});
