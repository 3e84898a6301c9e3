import { NumberValue } from '@aws-sdk/lib-dynamodb';
import { AdaptiveIndex } from '../../../../lib/core/adaptive-counts/adaptive-index';
import { WriteReporter } from '../../../../lib/core/adaptive-counts/write-reporter';
import { shardBatches } from '../../../../lib/core/sharded-index';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';

const NOON = Date.UTC(2026, 10, 21, 12);
const INDEX_ARN = 'arn:aws:dynamodb:eu-west-1:111111111111:table/orders/index/byStatus';

/** The error of the SDK for a write that DynamoDB throttles. */
const throttling = (reason = 'IndexWriteKeyRangeThroughputExceeded', resource = INDEX_ARN): Error =>
  Object.assign(new Error('refused'), {
    name: 'ProvisionedThroughputExceededException',
    ThrottlingReasons: [{ reason, resource }],
  });

function reporterAt(config = adaptiveConfig, fails = false) {
  const reports: { key: string; admitted: number; throttled: number; item: object }[] = [];
  const problems: unknown[] = [];
  const clock = { now: NOON };
  const client = {
    async updateItem(item: {
      Key: Record<string, { S: string }>;
      ExpressionAttributeValues: Record<string, { N: string }>;
    }) {
      if (fails) throw new Error('not allowed');
      const { ':admitted': admitted, ':throttled': throttled } = item.ExpressionAttributeValues;
      reports.push({ key: item.Key.value!.S, admitted: Number(admitted!.N), throttled: Number(throttled!.N), item });
      return {};
    },
  };
  const reporter = new WriteReporter(client as never, config, {
    timeOfDay: () => clock.now,
    onUnreported: (error) => problems.push(error),
  });
  const succeed = (value: string | undefined, attempts = 1, units = 1) =>
    reporter.watch(value, async () => ({ $metadata: { attempts } }), units);
  const fail = (value: string | undefined, error = throttling()) =>
    reporter
      .watch(value, async () => {
        throw error;
      })
      .catch(() => undefined);
  return { reporter, reports, problems, clock, succeed, fail };
}

describe('WriteReporter', () => {
  test('reports the throttled and the admitted writes of a value for each minute in which writes were throttled', async () => {
    const { reports, clock, succeed, fail } = reporterAt();
    await succeed('open');
    await succeed('open', 2);
    await succeed('open', 1, 4);
    await fail('open');
    expect(reports).toEqual([]);
    clock.now += 60_000;
    await succeed('closed');
    expect(reports).toMatchObject([{ key: '2026-11-21T12:00=open', admitted: 5, throttled: 2 }]);
    expect(reports[0]!.item).toMatchObject({
      TableName: 'counts',
      Key: { index: { S: 'orders/byStatus/reports' } },
      UpdateExpression: 'ADD #admitted :admitted, #throttled :throttled SET #expiry = :expiry',
      ExpressionAttributeValues: { ':expiry': { N: String((NOON + 24 * 3_600_000) / 1_000) } },
    });
  });

  test.each([
    ['throttling of another index', throttling(undefined, INDEX_ARN.replace('byStatus', 'byDay'))],
    [
      'throttling of the table',
      throttling('TableWriteKeyRangeThroughputExceeded', INDEX_ARN.replace('/index/byStatus', '')),
    ],
    ['throttling by the provisioned capacity', throttling('IndexWriteProvisionedThroughputExceeded')],
    ['an error without throttling reasons', new Error('no')],
  ])('does not report %s', async (_, error) => {
    const { reports, clock, succeed, fail } = reporterAt();
    await fail('open', error);
    await succeed('open', 3);
    clock.now += 60_000;
    await succeed('open');
    expect(reports).toEqual([]);
  });

  test('reports each value separately, and each minute once', async () => {
    const { reports, clock, succeed, fail } = reporterAt();
    await fail('open');
    await fail('paid');
    await fail('paid');
    clock.now += 5 * 60_000;
    await Promise.all([succeed('open'), succeed('open'), succeed('open')]);
    clock.now += 60_000;
    await succeed('open');
    expect(reports).toMatchObject([
      { key: '2026-11-21T12:00=paid', throttled: 2 },
      { key: '2026-11-21T12:00=open', throttled: 1 },
    ]);
  });

  test('reports at most 100 values per minute: the values with the most throttled writes', async () => {
    const { reports, clock, succeed, fail } = reporterAt();
    for (let tenant = 0; tenant < 300; tenant++) await fail(`tenant-${tenant}`);
    await fail('tenant-299');
    clock.now += 60_000;
    await succeed('open');
    expect(reports).toHaveLength(100);
    expect(reports[0]).toMatchObject({ key: '2026-11-21T12:00=tenant-299', throttled: 2 });
  });

  test('reports the throttled writes of an index without a value attribute', async () => {
    const { reports, clock, succeed, fail } = reporterAt({ ...adaptiveConfig, valueAttribute: undefined });
    await fail(undefined);
    clock.now += 60_000;
    await succeed(undefined);
    expect(reports).toMatchObject([{ key: '2026-11-21T12:00*', throttled: 1 }]);
  });

  test('rejects a value for an index of the whole table', async () => {
    const { reporter } = reporterAt({ ...adaptiveConfig, valueAttribute: undefined });
    let sent = 0;
    const send = async () => {
      sent += 1;
    };
    await expect(reporter.watch('open', send)).rejects.toMatchObject({ code: 'INVALID_INDEX_VALUE', field: 'value' });
    expect(sent).toBe(0);
  });

  test('passes on the result and the error of the write, also if a report cannot be written', async () => {
    const { reporter, problems, clock, fail } = reporterAt(adaptiveConfig, true);
    const error = throttling();
    await expect(reporter.watch('open', () => Promise.reject(error))).rejects.toBe(error);
    const other = new Error('another');
    await expect(reporter.watch('open', () => Promise.reject(other))).rejects.toBe(other);
    await fail('open');
    clock.now += 60_000;
    await expect(reporter.watch('open', async () => 'written')).resolves.toBe('written');
    expect(problems).toEqual([new Error('not allowed')]);
  });

  test('rejects an invalid value and invalid units before it sends a request', async () => {
    const { reporter } = reporterAt();
    const send = jest.fn();
    for (const value of ['', Number.NaN]) {
      await expect(reporter.watch(value, send)).rejects.toMatchObject({ code: 'INVALID_INDEX_VALUE' });
    }
    await expect(reporter.watch('open', send, 0)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(send).not.toHaveBeenCalled();
    expect(() => reporterAt({ ...adaptiveConfig, adaptive: undefined } as never)).toThrow('config.adaptive');
  });

  test('executes the write of a value that is too long for a report key, and sends no report', async () => {
    const { reporter, reports, problems, clock, succeed, fail } = reporterAt();
    await fail('x'.repeat(1_008));
    expect(await reporter.watch('x'.repeat(2_000), async () => 'written')).toBe('written');
    clock.now += 60_000;
    await succeed('open');
    expect([reports, problems]).toEqual([[], []]);
    await fail('x'.repeat(1_007));
    clock.now += 60_000;
    await succeed('open');
    expect(reports).toMatchObject([{ throttled: 1 }]);
  });

  describe('watchBatch', () => {
    const put = (status: unknown) => ({ PutRequest: { Item: { orderId: '1', status } } });
    const requests = (...statuses: unknown[]) => ({ orders: statuses.map(put) });
    /** Sends a batch through a reporter, ends the minute, and returns the reports. */
    async function reported(play: (reporter: WriteReporter) => Promise<unknown>) {
      const { reporter, reports, clock, succeed } = reporterAt();
      await play(reporter);
      clock.now += 60_000;
      await succeed('other');
      return reports.map(({ key, admitted, throttled }) => ({ key: key.slice(17), admitted, throttled }));
    }

    test('reports the unprocessed items of a value with its other items', async () => {
      const sent = requests('open', 'open', 'open', 'paid');
      const unprocessed = { UnprocessedItems: requests('open', 'open') };
      expect(await reported((reporter) => reporter.watchBatch(sent, async () => unprocessed))).toEqual([
        { key: 'open', admitted: 1, throttled: 2 },
      ]);
    });

    test('counts an item once that is sent again until DynamoDB writes it', async () => {
      const play = async (reporter: WriteReporter) => {
        const answers = [requests('open', 'open'), requests('open'), {}];
        let batch: object = requests('open', 'open', 'open');
        for (const UnprocessedItems of answers) {
          await reporter.watchBatch(batch as never, async () => ({ UnprocessedItems }));
          batch = UnprocessedItems;
        }
      };
      expect(await reported(play)).toEqual([{ key: 'open', admitted: 1, throttled: 2 }]);
    });

    test('names a value as shardBatches counts it, in the types of both clients', async () => {
      const digits = '12345678901234567890';
      const values = [BigInt(digits), NumberValue.from(digits), digits];
      const forWriting = await new AdaptiveIndex(adaptiveConfig, { readCounts: async () => [] }).forWriting();
      const items = values.map((status) => ({ orderId: '1', createdAt: '2026', status }));
      const [batch] = shardBatches([forWriting], { put: items, delete: [{ orderId: '2' }] });
      const sent = { ...batch!.RequestItems, [INDEX_ARN.replace('/index/byStatus', '')]: [put({ N: digits })] };
      const play = (reporter: WriteReporter) =>
        expect(reporter.watchBatch(sent, () => Promise.reject(throttling()))).rejects.toThrow();
      expect(await reported(play)).toEqual([{ key: digits, admitted: 0, throttled: 4 }]);
    });

    test('counts all items of a batch that the index throttles as a whole, in the types of both clients', async () => {
      const sent = { [INDEX_ARN.replace('/index/byStatus', '')]: [put('open'), put({ S: 'open' }), put({ N: '5' })] };
      const play = async (reporter: WriteReporter) => {
        const error = throttling();
        await expect(reporter.watchBatch(sent, () => Promise.reject(error))).rejects.toBe(error);
        await reporter.watchBatch(sent, async () => ({}));
      };
      expect(await reported(play)).toEqual([
        { key: 'open', admitted: 0, throttled: 2 },
        { key: '5', admitted: 0, throttled: 1 },
      ]);
    });
  });
});
