import { fromEnv } from '@aws-sdk/credential-provider-env';
import type { AwsCredentialIdentityProvider } from '@aws-sdk/types';
import { Client, type ClientOptions, policies, types } from 'cassandra-driver';
import { CERTIFICATE_AUTHORITIES } from './certificate-authorities';
import { SigV4AuthProvider } from './sigv4-authenticator';

/** Source: the Amazon Keyspaces developer guide, "Service endpoints": CQL over TLS is served on this port only. */
const PORT = 9142;

/** A request without an answer for this long is sent again, on another connection. */
const SILENCE_MS = 5_000;

/**
 * How many connections to open to each host. Amazon Keyspaces accepts 3,000 requests a second on each connection, and has
 * nine hosts or, within a VPC, a few.
 */
const CONNECTIONS_PER_HOST = 2;

/**
 * How numbers are read without loss. A `varint` stays an `Integer` of the driver, because for 150,000 digits the driver
 * would need seconds to make a bigint, and nothing else could run meanwhile.
 */
export const ENCODING = { useBigIntAsLong: true, map: Map, set: Set };

/** A client of Amazon Keyspaces. It connects at the first statement. */
export function keyspacesClient(region: string, credentials?: AwsCredentialIdentityProvider): Client {
  return new Client(clientOptions(region, credentials));
}

/** The driver makes no retries, because the fan-out makes its own and recognises a throttled shard. */
export function clientOptions(region: string, credentials: AwsCredentialIdentityProvider = fromEnv()): ClientOptions {
  const host = `cassandra.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return {
    contactPoints: [host],
    localDataCenter: region,
    protocolOptions: { port: PORT },
    // By default the driver accepts any certificate, and it connects to IP addresses, which no certificate names.
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
