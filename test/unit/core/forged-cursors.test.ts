import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { InvalidCursorError } from '../../../lib/core/fan-out/fan-out-errors';
import * as seal from '../../../lib/core/kernel/sealed-text';
import { fanOutSelect, findStrayRows } from '../../../lib/core/keyspaces';
import { fanOutItems, fanOutQuery, findStrays } from '../../../lib/core/sharded-index';
import { indexConfig } from '../../support/index-config';
import { keyspacesConfig } from '../../support/keyspaces-config';
import { randomRuns } from '../../support/random-runs';

/** The first argument of each call of `unsealedValue`: the request or the configuration to which the cursor belongs. */
const owners: unknown[] = [];
jest.mock('../../../lib/core/kernel/sealed-text', () => {
  const actual = jest.requireActual<typeof seal>('../../../lib/core/kernel/sealed-text');
  return {
    ...actual,
    unsealedValue: (belongsTo: unknown, ...rest: [unknown, (value: unknown) => unknown]) => {
      owners.push(belongsTo);
      return actual.unsealedValue(belongsTo, ...rest);
    },
  };
});

const NOTHING = { Items: [], Count: 0, ScannedCount: 0, ConsumedCapacity: { CapacityUnits: 0.5 } };
const dynamoDb = { query: async () => NOTHING, scan: async () => NOTHING } as never;
const PARTITIONER = { partitioner: 'org.apache.cassandra.dht.Murmur3Partitioner' };
const cassandra = {
  execute: async (query: string) => ({ rows: query.includes('system.local') ? [PARTITIONER] : [], pageState: null }),
} as never;
const index = indexConfig({ shards: { default: { write: 2, read: 2 } } });
const table = keyspacesConfig();

const ENTRY_POINTS: Record<string, (text: string) => Promise<unknown>> = {
  fanOutQuery: (cursor) => fanOutQuery(dynamoDb, index, { value: 'open', cursor }),
  fanOutItems: async (resumeAt) => {
    for await (const _ of fanOutItems(dynamoDb, index, { value: 'open', resumeAt }));
  },
  findStrays: (resumeFrom) => findStrays(dynamoDb, index, { segment: 0, totalSegments: 1, resumeFrom } as never),
  fanOutSelect: (cursor) => fanOutSelect(cassandra, table, { value: { day: 'd' }, cursor } as never),
  findStrayRows: (resumeFrom) => findStrayRows(cassandra, table, { segment: 0, totalSegments: 1, resumeFrom } as never),
};

/** Values that are typical of cursors, and any other JSON values. */
const part = fc.oneof(
  fc.constantFrom<unknown>(0, 1, -1, 1.5, 2 ** 60, null, '', 'S', 'Sa', 'N1', 'Nx', 'BAA==', 'B?', '7', []),
  fc.jsonValue({ maxDepth: 1 }),
);
const shape = fc.oneof(part, fc.array(fc.oneof(part, fc.array(fc.oneof(part, fc.array(part)))), { maxLength: 8 }));

test.each(Object.entries(ENTRY_POINTS))(
  '%s accepts any text as a cursor or throws InvalidCursorError',
  async (_, call) => {
    owners.length = 0;
    await call(createHash('sha256').digest('base64url')).catch(() => {});
    const [belongsTo] = owners;
    expect(belongsTo).toBeDefined();
    await fc.assert(
      fc.asyncProperty(shape, async (value) => {
        const failure = await call(seal.sealedText(belongsTo, value)).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure !== undefined) expect(failure).toBeInstanceOf(InvalidCursorError);
      }),
      { numRuns: randomRuns(300) },
    );
  },
);
