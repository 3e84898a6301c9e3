import { parseArgs } from 'node:util';
import { textTable } from '../../../bin/text-table';
import { Fuzz } from '../fuzz/fuzz';

/**
 * Fuzzes events, responses, cursors, aggregates, configurations, cloud assemblies and files. Needs `npm run build`. The examples
 * run all targets for an hour, one target, and one case:
 *
 *     npm run soak fuzz -- --minutes 60 --from 0
 *     npm run soak fuzz -- --minutes 10 --only registry
 *     npm run soak fuzz -- --only registry --seed 1234
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    from: { type: 'string', default: '0' },
    only: { type: 'string' },
    seed: { type: 'string' },
  },
});

const PROGRESS_MS = 60_000;

async function main(): Promise<void> {
  const begunAt = performance.now();
  let failures = 0;
  let rounds = 0;
  const fuzz = await Fuzz.start({
    only: values.only,
    onFailure: (failure) => {
      failures += 1;
      console.error(failure);
    },
  });
  // An unhandled rejection must not end the run before its time is over.
  process.on('uncaughtException', (error) => {
    failures += 1;
    console.error('error outside of the cases:', error);
  });
  function* seeds(): Generator<number> {
    if (values.seed !== undefined) return yield Number(values.seed);
    const first = Number(values.from);
    for (; performance.now() < begunAt + Number(values.minutes) * 60_000; rounds++) yield first + rounds;
  }
  const progress = setInterval(() => {
    const cases = Object.values(fuzz.cases).reduce((sum, count) => sum + count, 0);
    const minutes = Math.round((performance.now() - begunAt) / 60_000);
    console.error(`${minutes} minutes, ${rounds} rounds, ${cases} cases, ${failures} failures`);
  }, PROGRESS_MS);
  try {
    await fuzz.play(seeds());
  } finally {
    clearInterval(progress);
    console.log(textTable(['target', 'cases'], Object.entries(fuzz.cases)).join('\n'));
    await fuzz.stop();
  }
  console.log(`${failures} failures`);
  process.exitCode = failures === 0 ? 0 : 1;
}

main()
  .catch((error) => {
    console.error(error);
    process.exitCode = 1;
  })
  // Ends the process, because the driver of Cassandra continues to connect after its shutdown.
  .finally(() => process.exit());
