import type { FanOutStats } from '../../../lib/core/fan-out/fan-out-stats';
import { pages } from '../../../lib/core/kernel/pages';
import type { FanOutRequest } from '../../../lib/core/sharded-index/query/fan-out-request';
import type { QueriedIndex } from '../producers-and-indexes';
import type { LocalStack } from '../run-local';
import type { PlainItem } from '../write-items';

interface QueriedPage {
  items: PlainItem[];
  cursor?: string;
  stats: FanOutStats;
}

/** Queries one page from the deployed function. */
export async function queryPage(
  stack: LocalStack,
  { query }: QueriedIndex,
  request: FanOutRequest,
): Promise<QueriedPage> {
  return (await stack.invoke(query.functionPath, { ...query.event, ...request })) as QueriedPage;
}

/** Queries all pages from the deployed function, one page at a time. */
export async function queryAll(stack: LocalStack, index: QueriedIndex, request: FanOutRequest): Promise<PlainItem[]> {
  const items: PlainItem[] = [];
  const read = (cursor: string | undefined) => queryPage(stack, index, { ...request, ...(cursor && { cursor }) });
  for await (const page of pages('Invoke', read, ({ cursor }) => cursor)) items.push(...page.items);
  return items;
}
