import { DailyUpdateLimitError, ReshardTimeOutError } from '../../../../lib/core/resharding/reshard-errors';

test('ReshardTimeOutError contains the open shards, the target and the minutes, and says that another run continues the work', () => {
  const error = new ReshardTimeOutError({ streamName: 'Events', shardCount: 16 }, 4, 51.4 * 60_000);
  expect(error.code).toBe('RESHARD_TIME_OUT');
  expect(error.problem).toBe('Events has 4 of 16 shards after 51 minutes; run it again to continue');
});

test.each([
  [10, 'they are allowed again at 1970-01-02T00:01:00.000Z'],
  [11, 'change the count in parts, with at most 10 doublings or halvings a day'],
])(
  'DailyUpdateLimitError – the plan needs %d updates, and one update of the day is used – the message ends with "%s"',
  (updates, ending) => {
    const { problem } = new DailyUpdateLimitError('Events', updates, [{ time: 0, shardCount: 2 }]);
    expect(problem).toContain(`Events needs ${updates} more update(s)`);
    expect(problem).toMatch(new RegExp(`; ${ending}$`));
  },
);
