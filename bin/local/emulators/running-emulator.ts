import { InvalidArgumentError } from '../../../lib/core/kernel/errors';
import { isLoopback } from '../../loopback-host';
import type { Emulator } from './emulator-thread';

/**
 * @throws InvalidArgumentError for an endpoint on another machine, because a local run must not write to other machines
 */
export function checkLoopback(field: string, endpoint: string): void {
  const { protocol, hostname } = URL.canParse(endpoint) ? new URL(endpoint) : { protocol: '', hostname: '' };
  if (protocol === 'http:' && isLoopback(hostname)) return;
  const allowed = 'an http URL on the loopback interface, such as http://127.0.0.1:8000';
  throw new InvalidArgumentError(field, endpoint, allowed);
}

/** An emulator that a person has started before this run. The run does not stop this emulator. */
export async function runningEmulator(field: string, endpoint: string): Promise<Emulator> {
  checkLoopback(field, endpoint);
  return { endpoint: new URL(endpoint).origin, failure: new Promise<never>(() => {}), stop: async () => {} };
}
