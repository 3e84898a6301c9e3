import type { CqlKeyType } from '../../../../lib/core';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import {
  fakeModelTable,
  MODEL_VALUES,
  type ModelShape,
  modelConfig,
  playSelectCase,
} from '../../../support/fakes/fan-out-select-model';

const CASES = 1_000;
const TYPES = Object.keys(MODEL_VALUES) as CqlKeyType[];

/** Throttling of Amazon Keyspaces, timeouts of the driver, and a lost connection. */
const FAULTS = [
  { name: 'ResponseError', code: 0x1200 },
  { name: 'ResponseError', code: 0x1001 },
  { name: 'OperationTimedOutError' },
  { name: 'NoHostAvailableError', innerErrors: { '10.0.0.1:9142': { name: 'BusyConnectionError' } } },
  { name: 'Error', code: 'ECONNRESET' },
];

function anyShape(random: () => number): ModelShape {
  const below = (count: number) => Math.floor(random() * count);
  const columns = Array.from({ length: 1 + below(3) }, () => ({
    type: TYPES[below(TYPES.length)]!,
    order: (['ASC', 'DESC'] as const)[below(2)]!,
  }));
  return { clustering: columns, byRegion: random() < 0.3 };
}

async function failuresOf(play: (seed: number) => Promise<unknown>): Promise<string[]> {
  const failures: string[] = [];
  for (let seed = 0; seed < CASES; seed++) {
    await play(seed).catch((error: Error) => failures.push(`seed ${seed}: ${error.message}`));
  }
  return failures;
}

describe(`fanOutSelect in ${CASES} random cases, while rows are added and deleted and shard counts change`, () => {
  test('returns the same pages as an oracle, without duplicate or missing rows', async () => {
    const failures = await failuresOf((seed) => {
      const random = seededRandom(1_000_000 + seed);
      const shape = anyShape(random);
      return playSelectCase(seed, shape, fakeModelTable(shape, random), modelConfig(shape, 'fake'), 200);
    });
    expect(failures).toEqual([]);
  }, 180_000);

  test('returns the same pages as an oracle if requests fail, are late or are sent twice, and if pages have deadlines or leave out shards', async () => {
    const failures = await failuresOf((seed) => {
      const random = seededRandom(2_000_000 + seed);
      const shape = anyShape(random);
      const failing = random() < 0.7 ? 0.3 * random() : 0;
      const late = 0.1 * random();
      const faults = {
        clock: new VirtualClock(),
        latencyMs: () => (random() < late ? 50 + 200 * random() : 1 + 5 * random()),
        fault: () =>
          random() < failing
            ? Object.assign(new Error('fault'), FAULTS[Math.floor(random() * FAULTS.length)])
            : undefined,
      };
      return playSelectCase(seed, shape, fakeModelTable(shape, random), modelConfig(shape, 'fake'), 60, faults);
    });
    expect(failures).toEqual([]);
  }, 180_000);
});
