import type { OutboxRelayOptions } from '../../../lib/core/outbox';
import type { TunedRelayOptions } from '../../../lib/core/outbox/relay-options';

/** Options of a relay that reads or saves in another way than users can choose. */
export function tuned(options: TunedRelayOptions): OutboxRelayOptions {
  return options;
}
