import { InvalidArgumentError } from '../../lib/core/foundation/errors';
import type { Emulator } from './emulator-thread';

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * An emulator that someone else has started, and stops.
 *
 * @throws InvalidArgumentError for an endpoint that is not on this machine: a local run writes to nothing else
 */
export async function runningEmulator(field: string, endpoint: string): Promise<Emulator> {
  const allowed = 'an http URL on the loopback interface, such as http://127.0.0.1:8000';
  if (!URL.canParse(endpoint)) throw new InvalidArgumentError(field, endpoint, allowed);
  const { protocol, hostname, origin } = new URL(endpoint);
  if (protocol !== 'http:' || !LOOPBACK.test(hostname)) throw new InvalidArgumentError(field, endpoint, allowed);
  return { endpoint: origin, failure: new Promise<never>(() => {}), stop: async () => {} };
}
