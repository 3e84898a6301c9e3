import { isRecord } from '../../lib/core/kernel/checks';
import { InvalidEventError } from '../invalid-event-error';

/** The request of an event: a scheduled check, a dry run, or an increase by a person. */
type ControllerRequest =
  | { readonly kind: 'check' }
  | { readonly kind: 'dry run' }
  | { readonly kind: 'increase'; readonly value: string | number | undefined; readonly count: number };

const FIELDS = ['index', 'value', 'count', 'dryRun'];

/** Checks an event before anything is read or written. */
export function parseControllerEvent(indexName: string, event: unknown): ControllerRequest {
  if (!isRecord(event)) {
    throw new InvalidEventError('event', event, 'an object');
  }
  const unknown = Object.keys(event).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw new InvalidEventError('event', unknown, `an object with only ${FIELDS.join(', ')}`);
  const { index, value, count, dryRun } = event;
  if (index !== undefined && index !== indexName) {
    throw new InvalidEventError('index', index, `${indexName} (the index of this function), or absent`);
  }
  if (dryRun !== undefined && typeof dryRun !== 'boolean') {
    throw new InvalidEventError('dryRun', dryRun, 'true, false or absent');
  }
  if (count === undefined) {
    if (value !== undefined) throw new InvalidEventError('count', count, 'the number of shards of the value');
    return { kind: dryRun === true ? 'dry run' : 'check' };
  }
  if (dryRun === true) throw new InvalidEventError('dryRun', dryRun, 'absent, because the event has a count');
  // The handler checks the count and the value, because it knows the maximum and the attribute of the index.
  return { kind: 'increase', value: value as string | number | undefined, count: count as number };
}
