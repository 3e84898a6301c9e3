import { InvalidInputError } from '../invalid-input-error';
import type { ConsoleState } from '../local/console/console-state';
import type { Measured, Missing, Throughput } from './observations';

/** The measurements of the local console since the start of the run, for each shard and each value. */
export async function measuredByConsole(url: string): Promise<Measured> {
  const { streams, indexes, tables } = await consoleStateOf(url);
  return {
    isEmulated: true,
    async stream({ path }) {
      const shards = streams.find((stream) => stream.path === path)?.shards ?? [];
      return {
        throttled: shards.reduce((sum, { throttled }) => sum + throttled, 0),
        shardLoads: shards.map(({ shardId, count, throttled }) => ({ shardId, records: count, throttled })),
      };
    },
    async index({ path, config: { indexName = '' } }) {
      const tablePath = indexName === '' ? path : path.slice(0, -indexName.length - 1);
      const entries = indexes.find((each) => each.path === tablePath && each.index === indexName)?.entries ?? [];
      const throttled = entries.reduce((sum, entry) => sum + entry.throttled, 0);
      return {
        throughput: hotKeys(throttled),
        entries: entries.map(({ value, shard, count, throttled }) => ({ value, shard, writes: count, throttled })),
        valuesAtMaximum: 0,
      };
    },
    table: async ({ path }) => hotKeys(tables.find((table) => table.path === path)?.throttled ?? 0),
    // The local console does not list indexes without shards.
    unshardedIndex: async () => ({ ...hotKeys(0), missing: NOT_LISTED }),
    // A local run has no metrics of functions.
    keeper: async () => ({}),
  };
}

const NOT_LISTED: Missing = {
  why: 'the local console does not list it',
  change: 'run doctor for the deployed table',
};

/** A local run limits only the throughput of each partition key, and counts only throttled writes. */
function hotKeys(throttled: number): Throughput {
  return {
    writes: { throttled, byCause: { keyRange: throttled } },
    reads: { throttled: 0, byCause: {} },
  };
}

/** The first state that the local console sends. The local console sends another state after every change. */
async function consoleStateOf(url: string): Promise<ConsoleState> {
  const wrong = (cause: string) =>
    new InvalidInputError(`--console ${url} is not the local console of a run: ${cause}`);
  let text = '';
  try {
    const response = await fetch(new URL('events', url.endsWith('/') ? url : `${url}/`));
    if (!response.ok || response.body === null) throw wrong(`the response has the status ${response.status}`);
    for await (const chunk of response.body) {
      text += Buffer.from(chunk).toString();
      if (text.includes('\n\n')) break;
    }
  } catch (error) {
    throw error instanceof InvalidInputError ? error : wrong((error as Error).message);
  }
  return JSON.parse(text.slice('data: '.length, text.indexOf('\n\n')));
}
