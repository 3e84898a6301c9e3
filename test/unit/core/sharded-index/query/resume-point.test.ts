import { ReadProgress } from '../../../../../lib/core/sharded-index/query/resume-point';
import { indexConfig } from '../../../../support/index-config';

/** The shards 0 to 3 of two values. */
const shards = [0, 1, 2, 3, 10_000, 10_001, 10_002, 10_003].map((number) => ({ number, shard: number % 10_000 }));

test('the shards of a value in front of one that was read are not finished, also where the text of the progress goes on', () => {
  const progress = new ReadProgress();
  progress.finish(10_002);
  progress.finish(10_000);
  progress.finish(1);
  const [config, request] = [indexConfig(), { values: ['a', 'b'] }];
  const text = progress.encode(config, request, 'count', shards);
  for (const each of [progress, ReadProgress.decode('cursor', text, config, request, 'count')])
    expect(shards.filter((shard) => each.isFinished(shard)).map(({ number }) => number)).toEqual([1, 10_000, 10_002]);
});
