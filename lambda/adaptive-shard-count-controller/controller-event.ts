import { InvalidEventError } from '../invalid-event-error';

/** The request of an event: a scheduled check, a dry run, an increase by a person, or a state change of the alarm. */
type ControllerRequest =
  | { readonly kind: 'check' }
  | { readonly kind: 'dry run' }
  | { readonly kind: 'increase'; readonly value: string | number | undefined; readonly count: number }
  | { readonly kind: 'alarm'; readonly isInAlarm: boolean; readonly at: string };

const FIELDS = ['index', 'value', 'count', 'dryRun'];
const STATES = ['OK', 'ALARM', 'INSUFFICIENT_DATA'];

/** Checks an event before anything is read or written. */
export function parseControllerEvent(indexName: string, event: unknown): ControllerRequest {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    throw new InvalidEventError('event', event, 'an object');
  }
  if ('detail-type' in event) return alarmOf(event);
  const unknown = Object.keys(event).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw new InvalidEventError('event', unknown, `an object with only ${FIELDS.join(', ')}`);
  const { index, value, count, dryRun } = event as Record<string, unknown>;
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

function alarmOf(event: object): ControllerRequest {
  const { 'detail-type': type, time, detail } = event as Record<string, unknown>;
  if (type !== 'CloudWatch Alarm State Change') {
    throw new InvalidEventError('detail-type', type, 'CloudWatch Alarm State Change');
  }
  const { value } = Object(Object(detail).state);
  if (!STATES.includes(value)) throw new InvalidEventError('detail.state.value', value, `one of ${STATES.join(', ')}`);
  if (typeof time !== 'string' || Number.isNaN(Date.parse(time))) {
    throw new InvalidEventError('time', time, 'a time in ISO 8601');
  }
  return { kind: 'alarm', isInAlarm: value === 'ALARM', at: new Date(time).toISOString() };
}
