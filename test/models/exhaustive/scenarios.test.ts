import { spawnSync } from 'node:child_process';
import { explore } from './explore';
import mutants from './mutants.json';
import { type OutboxBounds, outboxScenario } from './outbox/outbox-scenario';
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

const ONE_CRASH: OutboxBounds = {
  workers: 1,
  writers: [{ rows: ['a1'], ends: 'commit' }],
  ended: 1,
  batchRows: 1,
  rowsOfAKey: 1,
  fates: ['crashes'],
  faults: 1,
};

/** Small scenarios that describe their state, from several domains. */
const SMALL = [
  SCENARIOS.find(({ name }) => name === 'strays, a writer puts')!,
  ledgerScenario('ledgers, one releases', {
    owners: ['a'],
    work: [{ allocate: ['a'] }, { release: ['a'] }],
    faults: 1,
  }),
  outboxScenario('the outbox, a worker crashes', ONE_CRASH),
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

test('a fault that cannot happen fails the exploration, because its name may be wrong', async () => {
  const scenario = outboxScenario('the outbox, a worker crashes', { ...ONE_CRASH, faults: ['worker 1 crashed'] });
  await expect(explore(scenario)).rejects.toThrow(
    'the fault "worker 1 crashed" of the scenario "the outbox, a worker crashes" cannot happen',
  );
});

/** `npm run exhaustive -- --mutants` also runs the other mutants. */
const FEW_SCHEDULES = 1;

test('the first schedule finds each mutant for which mutants.json has the number 1', () => {
  const script = ['scripts/exhaustive.mjs', '--mutants', '--at-most', String(FEW_SCHEDULES)];
  const { status, stdout } = spawnSync(process.execPath, script, { encoding: 'utf8' });
  expect(stdout).toContain('0 wrong');
  expect(status).toBe(0);
}, 300_000);

test.each(mutants)('each mutant has an existing scenario: $rule', ({ scenario }) => {
  expect(SCENARIOS.map(({ name }) => name)).toContain(scenario);
});
