import { Client, type ClientOptions, policies, types } from 'cassandra-driver';
import { ENCODING } from './keyspaces-client';

/**
 * A client of a Cassandra server, without TLS and without authentication. The client connects when it sends the first
 * statement.
 */
export function cassandraClient(contactPoint: string): Client {
  return new Client(cassandraOptions(contactPoint));
}

/** The driver makes no retries, because the core makes its own retries. */
function cassandraOptions(contactPoint: string): ClientOptions {
  return {
    contactPoints: [contactPoint],
    policies: {
      retry: new policies.retry.FallthroughRetryPolicy(),
      // This policy works with any name of a data center.
      loadBalancing: new policies.loadBalancing.RoundRobinPolicy(),
    },
    pooling: { coreConnectionsPerHost: { [types.distance.local]: 1 } },
    encoding: ENCODING,
  };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5}$/;

/** @throws Error for an address on another machine, because rows must not leave this machine without TLS */
export function checkLocal(contactPoint: string): string {
  if (LOOPBACK.test(contactPoint)) return contactPoint;
  throw new Error(
    'a Cassandra server that replaces Amazon Keyspaces must be on the loopback interface, as in a local run',
  );
}
