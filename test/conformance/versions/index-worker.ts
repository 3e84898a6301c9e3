import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import type {
  DynamoDbItem,
  FanOutCountRequest,
  FanOutRequest,
  IndexQueryInput,
  ItemReshardClient,
  ItemTransferClient,
  QueryClient,
  ReshardItemsReport,
  ShardedConfig,
  ShardedIndexConfig,
  ShardedTableConfig,
  StrayReport,
  TransactWrite,
} from '../../../lib/core';
import { serve, type WorkerContext } from './serve';

/** An item as plain values. */
export type Item = Record<string, unknown>;

export interface ScanInput {
  config: ShardedConfig;
  segment: number;
  totalSegments: number;
  resumeFrom?: string;
  /** The number of pages after which the scan is aborted. */
  pages: number;
  /** For the `move` step of a table that is sharded by its own key. */
  versionAttribute?: string | null;
}

const ITEMS_OF_A_PAGE = 6;
/** The first requests of a count get a response, and the later requests wait until this deadline. */
const DEADLINE_MS = 400;

export function indexCalls({ core, dynamoDb }: WorkerContext) {
  const documents = DynamoDBDocument.from(dynamoDb);
  /** DynamoDB ends a page at 1 MB. A limit makes such pages from small items. */
  const smallPages = (input: IndexQueryInput) => ({
    ...input,
    Limit: Math.min(input.Limit ?? Infinity, ITEMS_OF_A_PAGE),
  });

  const scan = async <Report extends StrayReport>(
    { segment, totalSegments, resumeFrom, pages }: ScanInput,
    run: (
      client: ItemReshardClient & ItemTransferClient,
      options: Parameters<typeof core.findStrays>[2],
    ) => Promise<Report>,
  ): Promise<Report> => {
    const stop = new AbortController();
    let left = pages;
    const client = {
      scan: (input) => dynamoDb.scan({ ...input, Limit: ITEMS_OF_A_PAGE }),
      getItem: (input) => dynamoDb.getItem(input),
      updateItem: (input) => dynamoDb.updateItem(input),
      transactWriteItems: (input) => dynamoDb.transactWriteItems(input),
    } satisfies ItemReshardClient & ItemTransferClient;
    const onProgress = (): void => {
      left -= 1;
      if (left === 0) stop.abort();
    };
    const from = resumeFrom === undefined ? {} : { resumeFrom };
    return run(client, { segment, totalSegments, ...from, onProgress, signal: stop.signal });
  };

  return {
    async put({ configs, item }: { configs: ShardedConfig[]; item: Item }): Promise<void> {
      await documents.put(core.shardPut(configs, item));
    },
    async update({ config, key, set }: { config: ShardedIndexConfig; key: Item; set: Item }): Promise<void> {
      await documents.update({ TableName: config.tableName, Key: key, ...core.shardUpdate([config], key, { set }) });
    },
    /** Returns whether the transaction has put the item. */
    async transactPut({ config, item, ifAbsent }: { config: ShardedTableConfig; item: Item; ifAbsent: boolean }) {
      return transact(core.transactPut(config, item, { ifAbsent }));
    },
    async transactDelete({ config, value, key }: { config: ShardedTableConfig; value: string; key: Item }) {
      return transact(core.transactDelete(config, value, key));
    },
    async find({ config, value, key }: { config: ShardedTableConfig; value: string; key: Item }): Promise<Item[]> {
      const TransactItems = core.transactGet(config, value, key);
      const { Responses = [] } = await documents.transactGet({ TransactItems });
      return Responses.flatMap(({ Item }) => (Item === undefined ? [] : [Item]));
    },
    async query({ config, request }: { config: ShardedConfig; request: FanOutRequest }) {
      const { items, cursor } = await core.fanOutQuery(dynamoDb, config, request);
      return { items: items.map((item: DynamoDbItem) => core.plainItem<Item>(item)), cursor };
    },
    /** Counts until the deadline. Only the first `requests` requests get a response before the deadline. */
    async count({
      config,
      request,
      requests,
    }: {
      config: ShardedConfig;
      request: FanOutCountRequest;
      requests: number;
    }) {
      let left = requests;
      const client: QueryClient = {
        query(input, options) {
          left -= 1;
          if (left >= 0) return dynamoDb.query(smallPages(input));
          return new Promise((_, reject) => {
            options?.abortSignal?.addEventListener('abort', () => reject(new Error('aborted')));
          });
        },
      };
      const { count, cursor } = await core.fanOutCount(client, config, request, {
        deadlineMs: DEADLINE_MS,
        concurrency: 2,
      });
      return { count, cursor };
    },
    findStrays: (input: ScanInput): Promise<StrayReport> =>
      scan(input, (client, options) => core.findStrays(client, input.config, options)),
    reshard: (input: ScanInput): Promise<ReshardItemsReport> =>
      scan(input, (client, options) => {
        const { config, versionAttribute } = input;
        if (config.indexName !== undefined) return core.reshardItems(client, config, options as object);
        return core.reshardItems(client, config, {
          ...(options as object),
          versionAttribute: versionAttribute ?? null,
        });
      }),
  };

  async function transact(TransactItems: TransactWrite[]): Promise<boolean> {
    try {
      await documents.transactWrite({ TransactItems });
      return true;
    } catch (error) {
      if ((error as Error).name === 'TransactionCanceledException') return false;
      throw error;
    }
  }
}

serve(indexCalls);
