import fc from 'fast-check';
import { type CqlClient, findStrayRows, reshardRows } from '../../../../lib/core';
import { FakeRowTable } from '../../../support/fakes/fake-row-table';
import { keyspacesConfig } from '../../../support/keyspaces-config';

const config = keyspacesConfig();

/** The name, the first token and the last token of each partitioner. */
const TOKENS: [name: string, first: bigint, last: bigint][] = [
  ['org.apache.cassandra.dht.Murmur3Partitioner', -(2n ** 63n), 2n ** 63n - 1n],
  ['org.apache.cassandra.dht.RandomPartitioner', 0n, 2n ** 127n],
  ['com.amazonaws.cassandra.DefaultPartitioner', 0n, 2n ** 127n],
];

/** The first and the last token in the statement of a segment. */
async function tokensOf(partitioner: string, segment: number, totalSegments: number): Promise<[bigint, bigint]> {
  let tokens: [bigint, bigint] | undefined;
  const execute: CqlClient['execute'] = async (query) => {
    if (query.includes('system.local')) return { rows: [{ partitioner }] };
    const [, first, last] = / >= (-?\d+) AND .* <= (-?\d+)$/.exec(query)!;
    tokens = [BigInt(first!), BigInt(last!)];
    return { rows: [] };
  };
  await findStrayRows({ execute }, config, { segment, totalSegments });
  return tokens!;
}

test('findStrayRows – any partitioner and number of segments – reads each token in exactly one segment', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...TOKENS),
    fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 1_000_000 })),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    async ([name, first, last], total, at) => {
      const segment = Math.floor(at * total);
      const [begin, end] = await tokensOf(name, segment, total);
      expect(begin <= end).toBe(true);
      expect(begin).toBe(segment === 0 ? first : (await tokensOf(name, segment - 1, total))[1] + 1n);
      if (segment === total - 1) expect(end).toBe(last);
    },
  );
  await fc.assert(property);
});

function tableOf(partitioner: string): FakeRowTable {
  const table = new FakeRowTable(config);
  for (let id = 0; id < 25; id++) table.insert({ day: 'd', shard: 9, id });
  table.partitioner = partitioner;
  return table;
}

test.each(['org.apache.cassandra.dht.ByteOrderedPartitioner', ''])(
  'reshardRows – the partitioner %j – is rejected before a row is read',
  async (partitioner) => {
    const table = tableOf(partitioner);
    const moving = reshardRows(table, config);
    await expect(moving).rejects.toMatchObject({ code: 'UNKNOWN_PARTITIONER' });
    await expect(moving).rejects.toThrow(`must be one of Murmur3Partitioner, RandomPartitioner, DefaultPartitioner`);
    expect(table.sent).toHaveLength(1);
  },
);

test('findStrayRows – a role without permission to read system.local – throws an error with the missing permission', async () => {
  const table = tableOf('any');
  table.before = () => {
    throw Object.assign(new Error('User has no SELECT permission'), { name: 'ResponseError', code: 0x2100 });
  };
  const finding = findStrayRows(table, config);
  await expect(finding).rejects.toMatchObject({ code: 'UNKNOWN_PARTITIONER', cause: { code: 0x2100 } });
  await expect(finding).rejects.toThrow('allow cassandra:Select on it');
});

describe('a resume point', () => {
  async function stoppedAfterOnePage(partitioner: string): Promise<{ table: FakeRowTable; resumeFrom?: string }> {
    const table = tableOf(partitioner);
    const abort = new AbortController();
    const { resumePoint } = await findStrayRows(table, config, {
      signal: abort.signal,
      onProgress: () => abort.abort(),
    });
    return { table, resumeFrom: resumePoint };
  }

  test.each(TOKENS.map(([name]) => name))(
    '%s – the partitioner has not changed – continues the scan',
    async (partitioner) => {
      const { table, resumeFrom } = await stoppedAfterOnePage(partitioner);
      expect(await findStrayRows(table, config, { resumeFrom })).toMatchObject({ rowsScanned: 15 });
    },
  );

  test.each(TOKENS.flatMap(([from]) => TOKENS.filter(([to]) => to !== from).map(([to]) => [from, to] as const)))(
    '%s – the account now uses %s – is rejected before a row is read',
    async (from, to) => {
      const { table, resumeFrom } = await stoppedAfterOnePage(from);
      table.partitioner = to;
      table.sent.length = 0;
      await expect(findStrayRows(table, config, { resumeFrom })).rejects.toMatchObject({
        code: 'INVALID_CURSOR',
        field: 'resumeFrom',
      });
      expect(table.sent).toHaveLength(1);
    },
  );
});
