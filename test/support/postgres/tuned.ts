import type { OutboxRelayOptions } from '../../../lib/core/outbox';
import type { TunedRelayOptions } from '../../../lib/core/outbox/relay-options';

/** Returns relay options that include options for tests only, with the type of the public options. */
export function tuned(options: TunedRelayOptions): OutboxRelayOptions {
  return options;
}
