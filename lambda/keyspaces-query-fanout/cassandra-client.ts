import { Client, type ClientOptions, policies, types } from 'cassandra-driver';
import { ENCODING } from './keyspaces-client';

/** A client of a Cassandra, without TLS and without signing in. It connects at the first statement. */
export function cassandraClient(contactPoint: string): Client {
  return new Client(cassandraOptions(contactPoint));
}

/** The driver makes no retries, because the core makes its own. */
function cassandraOptions(contactPoint: string): ClientOptions {
  return {
    contactPoints: [contactPoint],
    policies: {
      retry: new policies.retry.FallthroughRetryPolicy(),
      // This works with any data center.
      loadBalancing: new policies.loadBalancing.RoundRobinPolicy(),
    },
    pooling: { coreConnectionsPerHost: { [types.distance.local]: 1 } },
    encoding: ENCODING,
  };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5}$/;

/** @throws Error for an address that is not on this machine, because rows must not leave it without TLS */
export function checkLocal(contactPoint: string): string {
  if (LOOPBACK.test(contactPoint)) return contactPoint;
  throw new Error('a Cassandra in place of Amazon Keyspaces must be on the loopback interface, as in a local run');
}
