import type { DynamoDbItem, IndexQueryInput, IndexQueryOutput, QueryClient } from '../../../lib/core';
import { serviceError } from '../../../lib/testing/service-error';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { indexConfig } from '../index-config';
import { FakeIndex, type FakeIndexOptions } from './fake-index';

/** An index of jobs by time. Job n is in shard n modulo the number of shards. Responses take virtual time. */
export class JobsIndex implements QueryClient {
  readonly clock = new VirtualClock();
  readonly sent: { shard: number; atMs: number; limit?: number; signal?: AbortSignal }[] = [];
  readonly config;
  readonly index: FakeIndex;
  inFlight = 0;
  most = 0;

  constructor(
    /** The response time in milliseconds, or the error instead of a response. */
    private readonly behave: (shard: number, nth: number) => number | Error = () => 1,
    { shards = 4, count = 100, ...options }: FakeIndexOptions & { shards?: number; count?: number } = {},
  ) {
    this.config = indexConfig({
      indexName: 'byTime',
      shards: { default: { write: shards, read: shards } },
      strategy: 'random',
      valueAttribute: undefined,
    });
    this.index = new FakeIndex(this.config, options);
    for (const number of upTo(count)) this.index.put(this.job(number));
  }

  job(number: number, shard = number % this.config.shards.default.read): DynamoDbItem {
    return {
      jobId: { S: String(number) },
      createdAt: { N: String(number) },
      number: { N: String(number) },
      shard: { N: String(shard) },
    };
  }

  async query(input: IndexQueryInput, { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<IndexQueryOutput> {
    const { ExpressionAttributeValues: values } = input;
    const shard = Number(values[Object.keys(values).find((name) => name.startsWith(':evenShards'))!].N);
    const nth = this.sent.filter((other) => other.shard === shard).length;
    this.sent.push({ shard, atMs: this.clock.now(), limit: input.Limit, signal: abortSignal });
    this.most = Math.max(this.most, ++this.inFlight);
    const behaviour = this.behave(shard, nth);
    await this.clock.sleep(typeof behaviour === 'number' ? behaviour : 1);
    this.inFlight -= 1;
    if (typeof behaviour !== 'number') throw behaviour;
    return this.index.query(input);
  }
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
export const numbersOf = (items: readonly DynamoDbItem[]): number[] =>
  items.map(({ jobId }) => Number((jobId as { S: string }).S));
export const throttle = (): Error => serviceError('ProvisionedThroughputExceededException', 'slow down');
