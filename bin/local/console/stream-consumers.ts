import type { ParkedKeyReport } from '../../../lib/core/consumer';
import { InvalidArgumentError } from '../../../lib/core/kernel/errors';
import type { EventSourceState } from '../event-sources/event-sources';
import type { WatchedStack } from './watched-stack';

/** A function that reads a stream, and its parked keys without their payloads. */
export interface ConsumerState extends EventSourceState {
  /** The first hundred parked keys. Absent if the function does not park keys. */
  readonly parked?: readonly ParkedKeyReport[];
}

const MAX_PARKED = 100;

export async function consumerStates({ stack, parkings }: WatchedStack): Promise<ConsumerState[]> {
  return Promise.all(
    stack.eventSources.states.map(async (state) => {
      const parking = parkings.find(({ definition }) => definition.path === state.functionPath);
      if (parking === undefined) return state;
      const parked: ParkedKeyReport[] = [];
      for await (const key of parking.store.parked()) {
        parked.push(key);
        if (parked.length === MAX_PARKED) break;
      }
      // The function reports no problem after it has parked a key, so the page shows the error of the key.
      const [latest] = [...parked].sort((a, b) => Number(b.since) - Number(a.since));
      return { ...state, parked, ...(latest?.lastError !== undefined && { problem: latest.lastError }) };
    }),
  );
}

const CHANGES = ['resume', 'skip', 'drop'] as const;

/** A change that a person makes to a parked key. */
export interface ParkedChange {
  readonly functionPath: string;
  readonly partitionKey: string;
  readonly change: (typeof CHANGES)[number];
}

/**
 * Changes a parked key as `even-shards parked` does. Then invokes the function for a replay immediately, without
 * waiting for its schedule.
 */
export async function changeParked(
  { stack, parkings }: WatchedStack,
  { functionPath, partitionKey, change }: ParkedChange,
): Promise<object> {
  const parking = parkings.find(({ definition }) => definition.path === functionPath);
  if (parking === undefined) throw new InvalidArgumentError('functionPath', functionPath, 'a function that parks keys');
  if (!CHANGES.includes(change)) throw new InvalidArgumentError('change', change, CHANGES.join(' or '));
  const wasParked = await parking.store[change](partitionKey);
  await stack.eventSources.invokeScheduled(parking.definition);
  return { wasParked };
}
