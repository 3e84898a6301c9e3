import { ReshardTimeOutError } from '../../../../lib/core/resharding/reshard-errors';

test('a time-out tells how far the stream has come, in how many minutes, and that the work can go on', () => {
  const error = new ReshardTimeOutError({ streamName: 'Events', shardCount: 16 }, 4, 51.4 * 60_000);
  expect(error.code).toBe('RESHARD_TIME_OUT');
  expect(error.problem).toBe('Events has 4 of 16 shards after 51 minutes; run it again to go on from there');
});
