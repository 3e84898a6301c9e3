import type { FanOutStats } from '../../../lib/core/fan-out/fan-out-stats';
import type { FanOutRequest } from '../../../lib/core/sharded-index/query/fan-out-request';
import type { KnownIndex } from '../producers-and-indexes';
import type { LocalStack } from '../run-local';
import type { PlainItem } from '../write-items';

interface QueriedPage {
  items: PlainItem[];
  cursor?: string;
  stats: FanOutStats;
}

/** Asks the deployed function for one page. */
export async function queryPage(
  stack: LocalStack,
  { functionPath, config }: KnownIndex,
  request: FanOutRequest,
): Promise<QueriedPage> {
  return (await stack.invoke(functionPath, { index: config.indexName, ...request })) as QueriedPage;
}

/** Asks the deployed function for one page after the other, to the end. */
export async function queryAll(stack: LocalStack, index: KnownIndex, request: FanOutRequest): Promise<PlainItem[]> {
  const items: PlainItem[] = [];
  let cursor: string | undefined;
  do {
    const page = await queryPage(stack, index, { ...request, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return items;
}
