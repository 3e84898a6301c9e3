import { parseArgs } from 'node:util';
import { textTable } from '../../bin/local/sample/text-table';
import { Fuzz } from '../fuzz/fuzz';

/**
 * Hostile events, answers, cursors, aggregates, configurations, cloud assemblies and files, after `npm run build`:
 *
 *     npm run soak fuzz -- --minutes 60 --seed 0
 *     npm run soak fuzz -- --seed 1234 --cases 1 --only registry
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '0' },
    cases: { type: 'string', default: 'Infinity' },
    only: { type: 'string', default: '' },
  },
});

async function main(): Promise<void> {
  const first = Number(values.seed);
  const until = performance.now() + Number(values.minutes) * 60_000;
  const failures: Error[] = [];
  const fuzz = await Fuzz.start(first, values.only);
  try {
    for (let seed = first; performance.now() < until && seed < first + Number(values.cases); seed++) {
      failures.push(...(await fuzz.play(seed)));
    }
  } finally {
    console.log(textTable(['target', 'cases'], Object.entries(fuzz.cases)).join('\n'));
    await fuzz.stop();
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} cases failed`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
