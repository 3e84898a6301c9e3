import {
  DynamoDBClient,
  GetItemCommand,
  type GetItemCommandInput,
  PutItemCommand,
  type PutItemCommandInput,
  ScanCommand,
  type ScanCommandInput,
} from '@aws-sdk/client-dynamodb';
import { KinesisClient, ListShardsCommand } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Context } from 'aws-lambda';
import { REGISTRY_TABLE_NAME, STREAM_NAME } from '../../lib/core/contract/function-environment';
import { DynamoDbRegistryStore } from '../../lib/core/registry/dynamodb-registry-store';
import { HashKeyLedger, PartialRebalanceError, readOwners } from '../../lib/core/registry/hash-key-ledger';
import type { HashKeyOwner } from '../../lib/core/registry/hash-key-owner';
import type { RebalanceMove } from '../../lib/core/registry/rebalance-plan';
import { listOpenShards } from '../../lib/core/resharding/open-shards';
import type { HashKeyRange } from '../../lib/core/stream-format/hash-key-ranges';
import { loggable } from '../loggable';
import { requiredEnvironment } from '../required-environment';
import { allocateEach, type OwnerFailure } from './allocate-each';
import { checkAllowed } from './check-allowed';
import { InvocationTime } from './invocation-time';
import { parseRegistryEvent } from './registry-event';

const streamName = requiredEnvironment(STREAM_NAME);
// Use HTTP/1.1. The SDK's default for Kinesis is HTTP/2, which needs TLS, and emulators have no TLS.
const kinesis = new KinesisClient({ requestHandler: new NodeHttpHandler() });
const dynamoDb = new DynamoDBClient({});
const time = new InvocationTime();
const table = {
  getItem: (input: GetItemCommandInput) => time.within((options) => dynamoDb.send(new GetItemCommand(input), options)),
  putItem: (input: PutItemCommandInput) => time.within((options) => dynamoDb.send(new PutItemCommand(input), options)),
  scan: (input: ScanCommandInput) => time.within((options) => dynamoDb.send(new ScanCommand(input), options)),
};
const store = new DynamoDbRegistryStore(table, requiredEnvironment(REGISTRY_TABLE_NAME));
const ledger = new HashKeyLedger(store, { clock: time.clock });

export const handler = loggable(handle);

type Invocation = Pick<Context, 'invokedFunctionArn' | 'getRemainingTimeInMillis'>;

async function handle(event: unknown, invocation: Invocation): Promise<object> {
  const request = parseRegistryEvent(event);
  checkAllowed(request.action, invocation.invokedFunctionArn);
  time.begin(invocation);
  switch (request.action) {
    case 'allocate':
      return { owners: (await allocateEach(ledger, store, request.owners, await ranges())).map(ownerJson) };
    case 'get':
      return { owners: (await readOwners(store, request.owners)).map(ownerJson) };
    case 'release':
      return { owners: (await ledger.release(request.owners)).map(ownerJson) };
    case 'list':
      return listPage(await ledger.list(), request);
    case 'plan': {
      const { moves, bound, heaviest } = await ledger.plan(await ranges());
      return { moves: moves.slice(0, request.mostMoves).map(moveJson), moveCount: moves.length, bound, heaviest };
    }
    case 'rebalance':
      return rebalance(request.mostMoves);
    case 'move':
      await ledger.move(request.move);
      return {};
  }
}

/**
 * Rebalances the owners. If a later commit fails, returns the completed moves with the failure, because the caller must
 * know these moves.
 */
async function rebalance(mostMoves: number): Promise<object> {
  try {
    return { moves: (await ledger.rebalance(await ranges(), mostMoves)).map(moveJson) };
  } catch (error) {
    if (!(error instanceof PartialRebalanceError)) throw error;
    return { moves: error.moves.map(moveJson), failure: error.message };
  }
}

function ranges(): Promise<HashKeyRange[]> {
  return listOpenShards(
    { listShards: (input) => time.within((options) => kinesis.send(new ListShardsCommand(input), options)) },
    streamName,
  );
}

function listPage(all: readonly HashKeyOwner[], { limit, cursor }: { limit: number; cursor?: string }): object {
  const rest = cursor === undefined ? all : all.filter(({ owner }) => owner > cursor);
  const owners = rest.slice(0, limit);
  return { owners: owners.map(ownerJson), ...(rest.length > limit && { cursor: owners.at(-1)!.owner }) };
}

/** Hash keys become decimal text, because JSON has no integers of 128 bits. */
function ownerJson(owner: HashKeyOwner | OwnerFailure | undefined): object | null {
  if (owner === undefined) return null;
  return 'hashKey' in owner ? { ...owner, hashKey: String(owner.hashKey) } : owner;
}

function moveJson(move: RebalanceMove): object {
  return { ...move, fromHashKey: String(move.fromHashKey), toHashKey: String(move.toHashKey) };
}
