import { backoffMs } from '../kernel/backoff';
import { type CallLimit, callWithin } from '../kernel/call-within';
import type { Clock } from '../kernel/clock';
import { pages } from '../kernel/pages';
import type { PutRecordsClient, ShardDescription, StreamIdentity } from './put-records-client';
import { ShardMap } from './shard-map';

/** The shortest time between two reads of the shard map: one second, and longer after failures. */
const PAUSE = { backoffBaseMs: 1_000, backoffCapMs: 30_000, random: () => 1 };

/** Reads the shard map of a stream. Reads do not run in parallel, and there is a pause between them. */
export class StreamShards {
  map?: ShardMap;
  isLoading = false;
  private nextLoadAtMs = Number.NEGATIVE_INFINITY;
  /** Reads that have failed since the last success. */
  private failures = 0;

  constructor(
    private readonly client: PutRecordsClient,
    private readonly stream: StreamIdentity,
    private readonly limit: CallLimit & { readonly clock: Clock },
  ) {}

  /**
   * Reads the shard map. An urgent read need not wait, unless the previous read failed.
   *
   * @returns whether there is a new map: false if the read failed, undefined if it is too early for another read
   */
  refresh({ isUrgent }: { isUrgent: boolean }): Promise<boolean> | undefined {
    if (this.client.listShards === undefined || this.isLoading) return undefined;
    if (this.limit.clock.now() < this.nextLoadAtMs && !(isUrgent && this.failures === 0)) return undefined;
    this.isLoading = true;
    return this.load();
  }

  private async load(): Promise<boolean> {
    try {
      this.map = new ShardMap(await this.openShards());
      this.failures = 0;
      return true;
    } catch {
      this.failures += 1;
      return false;
    } finally {
      this.isLoading = false;
      this.nextLoadAtMs = this.limit.clock.now() + backoffMs(this.failures + 1, PAUSE);
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
