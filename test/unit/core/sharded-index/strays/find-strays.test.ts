import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  calculatedShard,
  type DynamoDbItem,
  findStrays,
  InvalidCursorError,
  InvalidIndexConfigError,
  type ShardedIndexConfig,
  type Stray,
  StrayScanError,
} from '../../../../../lib/core';
import { serviceError } from '../../../../../lib/testing/service-error';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { FakeTable } from '../../../../support/fakes/fake-table';
import { indexConfig } from '../../../../support/index-config';

const byStatus = indexConfig({
  tableName: 'Orders',
  tableKey: ['id'],
  keyLayout: 'single-attribute',
  sortKeyAttributes: [],
  shards: { default: { write: 4, read: 6 } },
});
const multi: ShardedIndexConfig = { ...byStatus, keyLayout: 'multi-attribute' };
const random: ShardedIndexConfig = { ...multi, strategy: 'random' };
const wholeTable: ShardedIndexConfig = { ...multi, valueAttribute: undefined };

/**
 * `right` is the calculated shard of the item o-1. `other` is a wrong shard for this item, but readers query this shard
 * too.
 */
const right = calculatedShard('o-1', 4);
const other = (right + 1) % 4;

async function strayOf(config: ShardedIndexConfig, attributes: DynamoDbItem): Promise<Stray | undefined> {
  const table = new FakeTable(['id']);
  table.put({ id: { S: 'o-1' }, ...attributes });
  const found: Stray[] = [];
  await findStrays(table, config, { onStray: (stray) => void found.push(stray) });
  return found[0];
}

describe('findStrays – which items are strays', () => {
  const sent = { status: { S: 'sent' } };
  const expected = { S: `sent#${right}` };

  test.each<
    [item: string, stray: string, config: ShardedIndexConfig, item: DynamoDbItem, shard?: DynamoDbItem[string]]
  >([
    ['in its shard', 'none', byStatus, { ...sent, shard: expected }],
    ['without a shard', 'missing, hidden', byStatus, sent, expected],
    ['with a number in the single-attribute layout', 'malformed, hidden', byStatus, { ...sent, shard: { N: '1' } }],
    ['whose shard has no separator', 'malformed, hidden', byStatus, { ...sent, shard: { S: 'sent' } }],
    ['whose shard has a leading zero', 'malformed, hidden', byStatus, { ...sent, shard: { S: `sent#0${right}` } }],
    ['in the shard of another value', 'otherValue, hidden', byStatus, { ...sent, shard: { S: 'new#1' } }, expected],
    ['above the read count', 'outOfRange, hidden', byStatus, { ...sent, shard: { S: 'sent#6' } }],
    ['above the write count', 'misplaced', byStatus, { ...sent, shard: { S: 'sent#5' } }],
    ['in another shard', 'misplaced', byStatus, { ...sent, shard: { S: `sent#${other}` } }, expected],
    ['with a shard, but without a value', 'leftOver', byStatus, { shard: { S: 'sent#1' } }],
    ['without value and shard', 'none', byStatus, {}],
    ['with a boolean as its value', 'invalidValue', byStatus, { status: { BOOL: true } }],
    ['with a text instead of a shard number', 'malformed, hidden', multi, { ...sent, shard: { S: '1' } }],
    ['with a fraction', 'malformed, hidden', multi, { ...sent, shard: { N: '1.5' } }],
    ['with a negative shard', 'malformed, hidden', multi, { ...sent, shard: { N: '-1' } }],
    ['in a random shard that writers use', 'none', random, { ...sent, shard: { N: String(other) } }],
    ['in a random shard that is drained', 'misplaced', random, { ...sent, shard: { N: '4' } }],
    ['in a random shard above the read count', 'outOfRange, hidden', random, { ...sent, shard: { N: '6' } }],
    ['of the whole table, without a shard', 'missing, hidden', wholeTable, {}, { N: String(right) }],
    ['of the whole table, in its shard', 'none', wholeTable, { shard: { N: String(right) } }],
  ])('an item %s – the reported stray is: %s', async (_, stray, config, item, shard = undefined) => {
    const found = await strayOf(config, item);
    expect(found === undefined ? 'none' : `${found.reason}${found.hidden ? ', hidden' : ''}`).toBe(stray);
    if (found !== undefined) expect(found.key).toEqual({ id: { S: 'o-1' } });
    if (shard !== undefined) expect(found?.expected).toEqual(shard);
  });

  test('uses the shard counts of the value, also if the value is a number', async () => {
    const shards = { default: { write: 4, read: 4 }, byValue: { 7: { write: 9, read: 9 } } };
    const config = { ...random, shards };
    expect(await strayOf(config, { status: { N: '7' }, shard: { N: '8' } })).toBeUndefined();
    expect(await strayOf(config, { status: { N: '8' }, shard: { N: '8' } })).toMatchObject({ reason: 'outOfRange' });
  });

  test('accepts a value with more digits than a JavaScript number', async () => {
    const status = { N: '123456789012345678901234567890' };
    expect(await strayOf(byStatus, { status, shard: { S: `${status.N}#${right}` } })).toBeUndefined();
  });
});

function tableOf(count: number, pageItems?: number): FakeTable {
  const table = new FakeTable(['id'], pageItems);
  for (let number = 0; number < count; number++) table.put({ id: { S: `o-${number}` }, status: { S: 'sent' } });
  return table;
}

describe('findStrays', () => {
  test('counts every item of all segments once, and writes nothing', async () => {
    const table = tableOf(200, 7);
    const reports = await Promise.all(
      [0, 1, 2, 3].map((segment) => findStrays(table, byStatus, { segment, totalSegments: 4 })),
    );
    expect(reports.reduce((sum, { itemsScanned }) => sum + itemsScanned, 0)).toBe(200);
    expect(reports.reduce((sum, { strays }) => sum + strays.missing, 0)).toBe(200);
    expect(reports.every(({ resumePoint }) => resumePoint === undefined)).toBe(true);
    expect(table.updates).toEqual([]);
  });

  test('reads only the key, the value, the shard and the sort key', async () => {
    const table = tableOf(1);
    await findStrays(table, byStatus);
    expect(Object.values(table.scans[0]!.ExpressionAttributeNames)).toEqual(['id', 'status', 'shard']);
    expect(table.scans[0]).toMatchObject({ ConsistentRead: true });
    expect(table.scans[0]).not.toHaveProperty('Limit');
    await findStrays(table, { ...wholeTable, sortKeyAttributes: ['at', 'id'] });
    expect(Object.values(table.scans[1]!.ExpressionAttributeNames)).toEqual(['id', 'shard', 'at']);
  });

  test('waits until onStray has settled before it reports the next stray', async () => {
    let [inCallback, most] = [0, 0];
    const onStray = async () => {
      most = Math.max(most, ++inCallback);
      await new Promise((resolve) => setImmediate(resolve));
      inCallback -= 1;
    };
    await findStrays(tableOf(5), byStatus, { onStray });
    expect(most).toBe(1);
  });

  test('does not count the read that its signal aborts as a failure', async () => {
    const controller = new AbortController();
    const scan: FakeTable['scan'] = (_, { abortSignal }: { abortSignal?: AbortSignal } = {}) =>
      new Promise((_resolve, reject) => {
        abortSignal!.addEventListener('abort', () =>
          reject(Object.assign(new Error('aborted'), { name: 'AbortError' })),
        );
        controller.abort();
      });
    const report = await findStrays({ scan }, byStatus, { signal: controller.signal });
    expect(report).toMatchObject({ itemsScanned: 0, resumePoint: expect.any(String) });
  });

  test('stops within a page when its signal aborts, and continues after the last reported stray', async () => {
    const table = tableOf(50, 20);
    const seen: string[] = [];
    const controller = new AbortController();
    const onStray = ({ key }: Stray): void => {
      seen.push((key.id as { S: string }).S);
      if (seen.length === 27) controller.abort();
    };
    const first = await findStrays(table, byStatus, { onStray, signal: controller.signal });
    expect(first.itemsScanned).toBe(27);
    const rest = await findStrays(table, byStatus, { onStray, resumeFrom: first.resumePoint! });
    expect(rest).toMatchObject({ itemsScanned: 23, strays: { missing: 23 } });
    expect(rest.resumePoint).toBeUndefined();
    expect(new Set(seen).size).toBe(50);
    expect(seen).toHaveLength(50);
  });

  test('reads nothing if its signal is already aborted, and can continue later', async () => {
    const table = tableOf(5);
    const report = await findStrays(table, byStatus, { signal: AbortSignal.abort() });
    expect(table.scans).toEqual([]);
    const rest = await findStrays(table, byStatus, { resumeFrom: report.resumePoint! });
    expect(rest.itemsScanned).toBe(5);
  });

  test('stays within readUnitsPerSecond, with pages that are small enough for this rate', async () => {
    const clock = new VirtualClock();
    const table = tableOf(0);
    for (let number = 0; number < 400; number++) {
      table.put({ id: { S: `o-${number}` }, text: { S: 'x'.repeat(4_000) }, status: { S: 'sent' } });
    }
    const report = await clock.runUntil(findStrays(table, byStatus, { readUnitsPerSecond: 10, clock }));
    expect(report.itemsScanned).toBe(400);
    const seconds = clock.now() / 1_000;
    expect(report.consumedReadUnits / seconds).toBeLessThan(15);
    expect(report.consumedReadUnits / seconds).toBeGreaterThan(8);
    expect(table.scans.at(-1)!.Limit).toBe(10);
  });

  test('retries throttled requests with growing delays, and sends a request at most ten times', async () => {
    const clock = new VirtualClock();
    const sentAt: number[] = [];
    const scan = async () => {
      sentAt.push(clock.now());
      throw serviceError('ThrottlingException');
    };
    const run = findStrays({ scan }, byStatus, { clock, random: () => 0.999 });
    await expect(clock.runUntil(run)).rejects.toThrow(StrayScanError);
    expect(sentAt).toHaveLength(10);
    expect(sentAt[6]).toBeCloseTo(50 * (2 ** 6 - 1), -2);
  });

  test('throws an error that contains the report so far, and continues from the resume point of this report', async () => {
    const table = tableOf(50, 20);
    let pages = 0;
    const scan: FakeTable['scan'] = async (input) => {
      if (++pages === 3) throw Object.assign(new Error('not allowed'), { name: 'AccessDeniedException' });
      return table.scan(input);
    };
    const failure = await findStrays({ scan }, byStatus).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StrayScanError);
    const { report, code, message, cause } = failure as StrayScanError;
    expect({ code, message, cause }).toMatchObject({
      code: 'STRAY_SCAN_FAILED',
      message: '[STRAY_SCAN_FAILED] the scan stopped after 40 items: not allowed',
      cause: { name: 'AccessDeniedException' },
    });
    expect(await findStrays(table, byStatus, { resumeFrom: report.resumePoint! })).toMatchObject({ itemsScanned: 10 });
  });

  test.each([new Error('disk full'), 'disk full'])(
    'throws the value that onStray throws (%p), and does not count the stray as reported',
    async (thrown) => {
      const failure = await findStrays(tableOf(3), byStatus, {
        onStray: () => {
          throw thrown;
        },
      }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'STRAY_SCAN_FAILED', report: { itemsScanned: 0 } });
      expect((failure as Error).message).toContain('0 items: disk full');
    },
  );
});

describe('findStrays – invalid input', () => {
  const table = tableOf(50, 20);

  test.each<[object, string]>([
    [{ onStray: 5 }, 'onStray must be a function, or absent, got 5'],
    [{ segment: 4, totalSegments: 4 }, 'segment must be a whole number from 0 to 3, got 4'],
    [{ totalSegments: 0 }, 'totalSegments must be a whole number from 1 to 1000000, got 0'],
    [{ readUnitsPerSecond: 0 }, 'readUnitsPerSecond must be a number above 0'],
    [{ attempts: 0 }, 'attempts must be a whole number of at least 1, got 0'],
    [{ backoffCapMs: -1 }, 'backoffCapMs must be a number of at least 0'],
    [{ consistentRead: 'yes' }, 'consistentRead must be true or false, got "yes"'],
  ])('rejects the options %j before it reads', async (options, message) => {
    const client = tableOf(1);
    await expect(findStrays(client, byStatus, options)).rejects.toThrow(`[INVALID_ARGUMENT] ${message}`);
    expect(client.scans).toEqual([]);
  });

  test('rejects the resume point of another index, count or segment, and a changed resume point', async () => {
    let point = '';
    await findStrays(table, byStatus, {
      segment: 1,
      totalSegments: 2,
      onProgress: ({ resumePoint }) => {
        point ||= resumePoint!;
      },
    });
    const same = { segment: 1, totalSegments: 2, resumeFrom: point };
    expect(await findStrays(table, byStatus, same)).toBeDefined();
    const others: [ShardedIndexConfig, object][] = [
      [{ ...byStatus, indexName: 'byCountry' }, same],
      [{ ...byStatus, shards: { default: { write: 6, read: 6 } } }, same],
      [{ ...byStatus, shards: { ...byStatus.shards, byValue: { a: { write: 1, read: 1 } } } }, same],
      [byStatus, { ...same, segment: 0 }],
      [byStatus, { ...same, totalSegments: 3 }],
      [byStatus, { ...same, resumeFrom: `${point.slice(0, -2)}AA` }],
      [byStatus, { ...same, resumeFrom: '' }],
    ];
    for (const [config, options] of others) {
      await expect(findStrays(table, config, options)).rejects.toBeInstanceOf(InvalidCursorError);
    }
  });

  test('rejects a document client and an invalid configuration', async () => {
    const documents = DynamoDBDocument.from(new DynamoDB({ region: 'eu-west-1' }));
    await expect(findStrays(documents as never, byStatus)).rejects.toThrow('a DynamoDBDocument');
    await expect(findStrays(table, { ...byStatus, tableKey: [] })).rejects.toBeInstanceOf(InvalidIndexConfigError);
  });
});
