import type { ParkedKeyReport } from '../../../lib/core/consumer';
import { InvalidArgumentError } from '../../../lib/core/kernel/errors';
import type { EventSourceState } from '../event-sources/event-sources';
import type { LocalStack } from '../run-local';
import type { WatchedStack } from './watched-stack';

/** A function that reads a stream, and the keys that it has set aside, without payloads. */
export interface ConsumerState extends EventSourceState {
  /** The first hundred parked keys. Absent for a function that sets no keys aside. */
  readonly parked?: readonly ParkedKeyReport[];
}

const MOST_PARKED = 100;

export async function consumerStates({ stack, parkings }: WatchedStack): Promise<ConsumerState[]> {
  return Promise.all(
    stack.eventSources.states.map(async (state) => {
      const parking = parkings.find(({ definition }) => definition.path === state.functionPath);
      if (parking === undefined) return state;
      const parked: ParkedKeyReport[] = [];
      for await (const key of parking.store.parked()) {
        parked.push(key);
        if (parked.length === MOST_PARKED) break;
      }
      return { ...state, parked };
    }),
  );
}

/** A record for a stream. */
export interface StreamRecord {
  /** The construct path of the stream. */
  readonly path: string;
  readonly partitionKey: string;
  readonly data: string;
}

/** Puts one record, for example one that the handler cannot handle, so that its key is set aside. */
export async function putRecord(stack: LocalStack, { path, partitionKey, data }: StreamRecord): Promise<object> {
  const stream = stack.streams.find((each) => each.path === path);
  if (stream === undefined) {
    throw new InvalidArgumentError('stream', path, `one of ${stack.streams.map((each) => each.path).join(', ')}`);
  }
  const input = { StreamName: stream.name, PartitionKey: partitionKey, Data: Buffer.from(data) };
  const { ShardId } = await stack.clients.kinesis.putRecord(input);
  return { shardId: ShardId };
}

const CHANGES = ['resume', 'skip', 'drop'] as const;

/** What a person does with a parked key. */
export interface ParkedChange {
  readonly functionPath: string;
  readonly partitionKey: string;
  readonly change: (typeof CHANGES)[number];
}

/** Does what `even-shards parked` does, and retries at once, so that nobody has to wait for the schedule. */
export async function changeParked(
  { stack, parkings }: WatchedStack,
  { functionPath, partitionKey, change }: ParkedChange,
): Promise<object> {
  const parking = parkings.find(({ definition }) => definition.path === functionPath);
  if (parking === undefined) throw new InvalidArgumentError('functionPath', functionPath, 'one that sets keys aside');
  if (!CHANGES.includes(change)) throw new InvalidArgumentError('change', change, CHANGES.join(' or '));
  const wasParked = await parking.store[change](partitionKey);
  await stack.eventSources.invokeScheduled(parking.definition);
  return { wasParked };
}
