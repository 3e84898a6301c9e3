import { kinesisForTests } from '../../support/kinesis-local';
import { playStreamAnswers } from '../../support/plays/stream-answers';
import { randomRuns } from '../../support/random-runs';

/**
 * Sends the same random calls to `FakeKinesis` and to kinesis-local, the emulator of `even-shards local`, and compares every
 * response, error and shard. docs/models.md lists the differences.
 */
const STREAMS = Math.max(4, randomRuns(4));
const CALLS = 25;

const { kinesis } = kinesisForTests();
const compared: Record<string, number> = {};

test.each(Array.from({ length: STREAMS }, (_, seed) => seed))(
  'the fake returns the same responses as the emulator: seed %i',
  async (seed) => {
    const counts = await playStreamAnswers(kinesis, { calls: CALLS, seed, nearly: true, scalesUniformly: true });
    for (const [kind, count] of Object.entries(counts)) compared[kind] = (compared[kind] ?? 0) + count;
  },
  60_000,
);

test('the random calls include a success and each possible error of each operation', () => {
  expect(Object.keys(compared).sort()).toEqual([
    'mergeShards InvalidArgumentException',
    'mergeShards ResourceNotFoundException',
    'mergeShards answered',
    'putRecords answered',
    'splitShard InvalidArgumentException',
    'splitShard ResourceNotFoundException',
    'splitShard answered',
    'updateShardCount InvalidArgumentException',
    'updateShardCount answered',
  ]);
});
