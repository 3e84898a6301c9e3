import { Stack, Token } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import type { IConstruct } from 'constructs';
import { constructField } from '../../construct/props';
import { InvalidArgumentError } from '../../core/kernel/errors';
import { streamOfApp } from '../stream-properties';

interface ShardCountOwner {
  readonly construct: IConstruct;
  /** What it keeps the stream at; absent, if it scales the stream. */
  readonly shardCount?: number;
}

/** By app, then by stream. */
const owners = new WeakMap<IConstruct, Map<string, ShardCountOwner>>();

/**
 * Makes a construct the one that decides how many shards a stream has. Two that keep it at the same count do not
 * disagree.
 *
 * @param shardCount what the owner keeps the stream at; undefined, if it scales the stream
 * @throws an error with the code `INVALID_ARGUMENT` if the stream has another owner: each would undo what the
 *   other does
 */
export function ownShardCount(construct: IConstruct, stream: kinesis.IStreamRef, shardCount: number | undefined): void {
  const ofApp = owners.get(construct.node.root) ?? new Map<string, ShardCountOwner>();
  owners.set(construct.node.root, ofApp);
  const key = identityOf(stream);
  const other = ofApp.get(key);
  if (other !== undefined && (shardCount === undefined || shardCount !== other.shardCount)) {
    throw new InvalidArgumentError(
      constructField(construct, 'stream'),
      stream.node.path,
      `a stream whose shard count is not decided elsewhere, and ${other.construct.node.path} ${deedOf(other)}`,
    );
  }
  ofApp.set(key, { construct, shardCount });
}

/** What two imports of one stream have in common, and an import of it with the stream itself, from whatever stack of the app. */
function identityOf(stream: kinesis.IStreamRef): string {
  const { streamArn } = stream.streamRef;
  const created = streamOfApp(streamArn);
  if (created !== undefined) return arnByName(created) ?? created.node.path;
  const stack = Stack.of(stream);
  const arn: unknown = stack.resolve(streamArn);
  return typeof arn === 'string' ? arn : `${stack.node.addr} ${JSON.stringify(arn)}`;
}

/** As an import names it by its ARN: of a stream with a name of the user's, in a stack with an environment. */
function arnByName(stream: kinesis.CfnStream): string | undefined {
  const { account, region } = Stack.of(stream);
  const { name } = stream;
  if (name === undefined || [name, account, region].some(Token.isUnresolved)) return undefined;
  const { partition = 'aws' } = RegionInfo.get(region);
  return `arn:${partition}:kinesis:${region}:${account}:stream/${name}`;
}

function deedOf({ shardCount }: ShardCountOwner): string {
  return shardCount === undefined ? 'scales it' : `keeps it at ${shardCount}`;
}
