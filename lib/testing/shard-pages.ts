import type { ListShardsInput, ListShardsOutput } from '@aws-sdk/client-kinesis';
import type { FakeShard } from './fake-shard';
import { serviceError } from './service-error';

/** Source: the Kinesis API reference, ListShards. */
const TOKEN_LIFE_MS = 300_000;
const DEFAULT_PAGE = 1_000;

interface Token {
  after: string;
  openOnly: boolean;
  issuedAtMs: number;
}

/** A page of ListShards: all shards in retention, or only open shards with the filter AT_LATEST. */
export function shardPage(
  all: readonly Pick<FakeShard, 'shardId' | 'isOpen' | 'describe'>[],
  input: ListShardsInput,
  nowMs: number,
): ListShardsOutput {
  const { NextToken, ExclusiveStartShardId, MaxResults = DEFAULT_PAGE, ShardFilter } = input;
  if (NextToken !== undefined && (input.StreamName ?? ExclusiveStartShardId ?? ShardFilter) !== undefined) {
    throw serviceError('InvalidArgumentException', 'NextToken and StreamName cannot be provided together.');
  }
  const filter = ShardFilter?.Type ?? 'AT_TRIM_HORIZON';
  const token: Token = NextToken
    ? parseToken(NextToken, nowMs)
    : {
        after: (filter === 'AFTER_SHARD_ID' ? ShardFilter?.ShardId : ExclusiveStartShardId) ?? '',
        openOnly: filter === 'AT_LATEST',
        issuedAtMs: nowMs,
      };
  const matching = all.filter(({ shardId, isOpen }) => shardId > token.after && (isOpen || !token.openOnly));
  const page = matching.slice(0, MaxResults);
  const next: Token = { ...token, after: page.at(-1)?.shardId ?? '', issuedAtMs: nowMs };
  return {
    Shards: page.map((shard) => shard.describe()),
    ...(matching.length > page.length && { NextToken: Buffer.from(JSON.stringify(next)).toString('base64') }),
  };
}

function parseToken(text: string, nowMs: number): Token {
  const token: Token = JSON.parse(Buffer.from(text, 'base64').toString());
  if (nowMs - token.issuedAtMs > TOKEN_LIFE_MS) throw serviceError('ExpiredNextTokenException');
  return token;
}
