import { Stack, Token } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import type { IConstruct } from 'constructs';
import { constructField } from '../../construct/props';
import { InvalidArgumentError } from '../../core/kernel/errors';
import { streamOfApp } from '../stream-properties';

interface ShardCountOwner {
  readonly construct: IConstruct;
  /** The shard count that the construct sets. Absent if the construct scales the stream. */
  readonly shardCount?: number;
}

/** The constructs that control shard counts, by app and by stream. */
const owners = new WeakMap<IConstruct, Map<string, ShardCountOwner>>();

/**
 * Registers the construct that controls the shard count of a stream. Several constructs may control the count if all of
 * them set the same number.
 *
 * @param shardCount the count that the construct sets, or undefined if the construct scales the stream
 * @throws an error with the code `INVALID_ARGUMENT` if another construct already controls the shard count, because each
 *   would undo the changes of the other
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
      `a stream whose shard count no other construct controls (${other.construct.node.path} ${describeControl(other)})`,
    );
  }
  ofApp.set(key, { construct, shardCount });
}

/** Returns the same key for a stream and for all imports of the stream, in every stack of the app. */
function identityOf(stream: kinesis.IStreamRef): string {
  const { streamArn } = stream.streamRef;
  const created = streamOfApp(streamArn);
  if (created !== undefined) return arnByName(created) ?? created.node.path;
  const stack = Stack.of(stream);
  const arn: unknown = stack.resolve(streamArn);
  return typeof arn === 'string' ? arn : `${stack.node.addr} ${JSON.stringify(arn)}`;
}

/**
 * The ARN with which another stack imports a stream. Undefined unless synthesis knows the stream name, the account and
 * the region.
 */
function arnByName(stream: kinesis.CfnStream): string | undefined {
  const { account, region } = Stack.of(stream);
  const { name } = stream;
  if (name === undefined || [name, account, region].some(Token.isUnresolved)) return undefined;
  const { partition = 'aws' } = RegionInfo.get(region);
  return `arn:${partition}:kinesis:${region}:${account}:stream/${name}`;
}

function describeControl({ shardCount }: ShardCountOwner): string {
  return shardCount === undefined ? 'scales the stream' : `keeps ${shardCount} shards`;
}
