import { InvalidEventError } from '../invalid-event-error';

/** The event of the schedule is `{}`. A person can invoke the function with `repair`. */
interface ReconcileEvent {
  /** Whether to repair drift or only to report it. @default the `repair` of the construct */
  readonly repair?: boolean;
}

/**
 * Checks an event before anything is read or changed, so that a misspelled `repair` does not only report.
 *
 * @throws InvalidEventError for an event with other fields, or with a `repair` that is not a boolean
 */
export function parseReconcileEvent(event: unknown): ReconcileEvent {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    throw new InvalidEventError('event', event, '{} or an object with repair');
  }
  const { repair, ...others } = event as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new InvalidEventError('event', unknown, 'an object with only repair');
  if (repair === undefined) return {};
  if (typeof repair !== 'boolean') throw new InvalidEventError('repair', repair, 'true or false');
  return { repair };
}
