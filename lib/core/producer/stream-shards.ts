import { type CallLimit, callWithin } from '../kernel/call-within';
import type { Clock } from '../kernel/clock';
import { pages } from '../kernel/pages';
import type { PutRecordsClient, ShardDescription, StreamIdentity } from './put-records-client';
import { ShardMap } from './shard-map';

/** The least time between two readings of the shard map, in milliseconds: it doubles while they fail. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** Reads a stream's shard map when asked, never twice at once and not too often. */
export class StreamShards {
  map?: ShardMap;
  isLoading = false;
  private nextLoadAtMs = Number.NEGATIVE_INFINITY;
  private pauseMs = MIN_PAUSE_MS;

  constructor(
    private readonly client: PutRecordsClient,
    private readonly stream: StreamIdentity,
    private readonly limit: CallLimit & { readonly clock: Clock },
  ) {}

  /**
   * Resolves to whether there is a new map; undefined if it is not the time. Nothing depends on a map: a reading that
   * fails is tried again when asked. An urgent one need not wait, unless the last failed.
   */
  refresh({ isUrgent }: { isUrgent: boolean }): Promise<boolean> | undefined {
    if (this.client.listShards === undefined || this.isLoading) return undefined;
    const hasFailed = this.pauseMs > MIN_PAUSE_MS;
    if (this.limit.clock.now() < this.nextLoadAtMs && !(isUrgent && !hasFailed)) return undefined;
    this.isLoading = true;
    return this.load();
  }

  private async load(): Promise<boolean> {
    try {
      this.map = new ShardMap(await this.openShards());
      this.pauseMs = MIN_PAUSE_MS;
      return true;
    } catch {
      this.pauseMs = Math.min(MAX_PAUSE_MS, 2 * this.pauseMs);
      return false;
    } finally {
      this.isLoading = false;
      this.nextLoadAtMs = this.limit.clock.now() + this.pauseMs;
    }
  }

  private async openShards(): Promise<ShardDescription[]> {
    const shards: ShardDescription[] = [];
    const read = (token: string | undefined) => {
      const input = token === undefined ? { ...this.stream, ShardFilter: OPEN } : { NextToken: token };
      return callWithin(this.limit, (options) => this.client.listShards!(input, options));
    };
    for await (const page of pages('ListShards', read, ({ NextToken }) => NextToken)) shards.push(...page.Shards!);
    return shards;
  }
}

const OPEN = { Type: 'AT_LATEST' } as const;
