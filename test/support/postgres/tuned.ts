import type { OutboxRelayOptions } from '../../../lib/core/outbox';
import type { TunedRelayOptions } from '../../../lib/core/outbox/relay-options';

/** Options of a relay that users cannot set. */
export function tuned(options: TunedRelayOptions): OutboxRelayOptions {
  return options;
}
