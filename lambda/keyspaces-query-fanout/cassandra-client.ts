import { Client, type ClientOptions, policies, types } from 'cassandra-driver';
import { ENCODING } from './keyspaces-client';

/** A client of a Cassandra, without TLS and without a sign-in. It connects when it is first asked. */
export function cassandraClient(contactPoint: string): Client {
  return new Client(cassandraOptions(contactPoint));
}

/** No retries besides those of the core. */
function cassandraOptions(contactPoint: string): ClientOptions {
  return {
    contactPoints: [contactPoint],
    policies: {
      retry: new policies.retry.FallthroughRetryPolicy(),
      // Whichever data center that one is in.
      loadBalancing: new policies.loadBalancing.RoundRobinPolicy(),
    },
    pooling: { coreConnectionsPerHost: { [types.distance.local]: 1 } },
    encoding: ENCODING,
  };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5}$/;

/** @throws Error for an address that is not on this machine: rows go nowhere else without TLS */
export function checkLocal(contactPoint: string): string {
  if (LOOPBACK.test(contactPoint)) return contactPoint;
  throw new Error('a Cassandra in place of Amazon Keyspaces must be on the loopback interface, as in a local run');
}
