import { DAILY_UPDATES } from '../../../lib/core/resharding/update-history';
import type { AlarmProperties } from '../../../lib/testing/parsed-alarm';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { LOAD_SHAPES, type LoadShape, withNoise } from './load-shapes';
import { scalingAlarms, simulateScaledStream } from './scaled-stream';

const WEEK = 7 * 1_440;
const alarms = scalingAlarms();
const shapeNamed = (name: string) => LOAD_SHAPES.find((shape) => shape.name === name)!;

/** A delay of one to three minutes. */
function late(): () => number {
  const random = seededRandom(3);
  return () => 1 + Math.floor(random() * 3);
}

function week(shape: LoadShape, lateMinutes?: () => number) {
  return simulateScaledStream({
    alarms,
    demandAt: withNoise(shape, WEEK),
    hotShare: shape.hotShare,
    minutes: WEEK,
    startShards: Math.ceil(shape.demandAt(0, WEEK) / 0.7),
    lateMinutes,
  });
}

jest.setTimeout(180_000);

describe('a stream that scales for a week by the alarms of the template', () => {
  /** The maximum share of the time in which the stream is throttled, for loads with a sudden jump. */
  const AT_ONCE = 0.02;

  test.each(LOAD_SHAPES)(
    'is throttled for less than 1 % of the time, or for less than 2 % if the load jumps at once, also with late metrics: $name',
    async (shape) => {
      const most = shape.name.endsWith('at once') ? AT_ONCE : 0.01;
      for (const lateMinutes of [undefined, late()]) {
        const { throttledTime, mostUpdatesADay } = await week(shape, lateMinutes);
        expect(throttledTime).toBeLessThan(most);
        expect(mostUpdatesADay).toBeLessThanOrEqual(DAILY_UPDATES);
      }
    },
  );

  /**
   * The durations are in minutes. The alarm needs three minutes, and an update takes five minutes. The next update starts ten
   * minutes after the previous update.
   */
  const ONE_DOUBLING = 3 + 5;
  const TWO_DOUBLINGS = 3 + 10 + 5;

  test.each([
    { name: 'office hours, 1:5 at once', lateMinutes: 0, longest: TWO_DOUBLINGS, usual: ONE_DOUBLING },
    { name: 'office hours, 1:5 at once', lateMinutes: 3, longest: TWO_DOUBLINGS + 3, usual: TWO_DOUBLINGS + 3 },
    { name: 'bursts, 1:4 at once', lateMinutes: 0, longest: TWO_DOUBLINGS, usual: ONE_DOUBLING },
    { name: 'bursts, 1:4 at once', lateMinutes: 3, longest: TWO_DOUBLINGS + 3, usual: ONE_DOUBLING + 3 },
  ])(
    'is throttled only until its shard count has doubled once or twice, with the load $name and metrics $lateMinutes minutes late',
    async ({ name, lateMinutes, longest, usual }) => {
      const shape = shapeNamed(name);
      const run = await week(shape, () => lateMinutes);
      const isHigh = (minute: number) => shape.demandAt(minute, WEEK) === shape.peak;
      const jumps = Array.from({ length: WEEK - 1 }, (_, minute) => minute).filter((m) => !isHigh(m) && isHigh(m + 1));
      expect(run.longestThrottling).toBeLessThanOrEqual(longest);
      expect(run.throttledTime * WEEK).toBeLessThanOrEqual(longest + (jumps.length - 1) * usual);
    },
  );

  test('keeps its shards while a hot shard is throttled, because accepted bytes are less than the demand', async () => {
    const hot: LoadShape = { name: 'hot', peak: 5, hotShare: 0.5, demandAt: () => 5 };
    const run = (given: ReadonlyMap<string, AlarmProperties>) =>
      simulateScaledStream({
        alarms: given,
        demandAt: hot.demandAt as never,
        hotShare: hot.hotShare,
        minutes: 1_440,
        startShards: 16,
      });
    expect((await run(alarms)).endShards).toBe(16);
    const byAcceptedBytes = { ...alarms.get('ScaleIn')!, Metrics: withoutThrottles(alarms.get('ScaleIn')!) };
    expect((await run(new Map([...alarms, ['ScaleIn', byAcceptedBytes]]))).endShards).toBeLessThan(16);
  });
});

function withoutThrottles({ Metrics = [] }: AlarmProperties): AlarmProperties['Metrics'] {
  return Metrics.map((metric) =>
    metric.Expression === 'IF(throttles > 0, 100, 0)' ? { ...metric, Expression: '0 * throttles' } : metric,
  );
}
