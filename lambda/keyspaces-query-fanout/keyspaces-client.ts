import { fromEnv } from '@aws-sdk/credential-provider-env';
import type { AwsCredentialIdentityProvider } from '@aws-sdk/types';
import { Client, type ClientOptions, policies, types } from 'cassandra-driver';
import { CERTIFICATE_AUTHORITIES } from './certificate-authorities';
import { SigV4AuthProvider } from './sigv4-authenticator';

/** Source: the Amazon Keyspaces developer guide, "Service endpoints": CQL over TLS, on this port alone. */
const PORT = 9142;

/** A request that stays without an answer for so long is sent again, on another connection. */
const SILENCE_MS = 5_000;

/**
 * Requests that may wait on one connection. Amazon Keyspaces takes 3,000 a second on each, and has nine hosts or, in a
 * network of one's own, a few.
 */
const CONNECTIONS_PER_HOST = 2;

/**
 * Numbers without loss. A `varint` stays an `Integer` of the driver: of one with 150,000 digits the driver takes seconds to make a
 * bigint, in which nothing else happens.
 */
export const ENCODING = { useBigIntAsLong: true, map: Map, set: Set };

/** A client of Amazon Keyspaces, which connects when it is first asked. */
export function keyspacesClient(region: string, credentials?: AwsCredentialIdentityProvider): Client {
  return new Client(clientOptions(region, credentials));
}

/** No retries in the driver, because the fan-out's own know what a throttled shard is. */
export function clientOptions(region: string, credentials: AwsCredentialIdentityProvider = fromEnv()): ClientOptions {
  const host = `cassandra.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return {
    contactPoints: [host],
    localDataCenter: region,
    protocolOptions: { port: PORT },
    // The driver trusts everybody unless it is told not to, and connects to addresses, which no certificate names.
    sslOptions: { ca: CERTIFICATE_AUTHORITIES, servername: host, rejectUnauthorized: true },
    authProvider: new SigV4AuthProvider(region, credentials),
    policies: {
      retry: new policies.retry.FallthroughRetryPolicy(),
      loadBalancing: new policies.loadBalancing.DCAwareRoundRobinPolicy(region),
    },
    pooling: { coreConnectionsPerHost: { [types.distance.local]: CONNECTIONS_PER_HOST } },
    socketOptions: { readTimeout: SILENCE_MS, connectTimeout: SILENCE_MS },
    encoding: ENCODING,
    isMetadataSyncEnabled: false,
  };
}
