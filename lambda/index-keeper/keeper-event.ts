import { isRecord } from '../../lib/core/kernel/checks';
import { InvalidEventError } from '../invalid-event-error';

/** The event of the schedule is `{}`. A person invokes the function with one of the other events. */
type KeeperEvent =
  | { readonly kind: 'changes' }
  | { readonly kind: 'schedule' }
  | { readonly kind: 'list'; readonly cursor?: string }
  | { readonly kind: 'sweep' };

/**
 * The kind of an event.
 *
 * @throws InvalidEventError for an event that is none of the allowed events
 */
export function parseKeeperEvent(event: unknown): KeeperEvent {
  if (Array.isArray(Object(event).Records)) return { kind: 'changes' };
  const allowed = 'the event of a table stream, {}, {"list":true} or {"sweep":true}';
  if (!isRecord(event)) {
    throw new InvalidEventError('event', event, allowed);
  }
  const { list, sweep, cursor, ...others } = event;
  const isCursor = cursor === undefined || (list === true && typeof cursor === 'string');
  if (Object.keys(others).length === 0 && isCursor) {
    if (list === undefined && sweep === undefined) return { kind: 'schedule' };
    if (sweep === true && list === undefined) return { kind: 'sweep' };
    if (list === true && sweep === undefined) return { kind: 'list', ...(cursor !== undefined && { cursor }) };
  }
  throw new InvalidEventError('event', event, allowed);
}
