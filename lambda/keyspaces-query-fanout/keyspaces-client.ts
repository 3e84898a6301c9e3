import { fromEnv } from '@aws-sdk/credential-provider-env';
import type { AwsCredentialIdentityProvider } from '@aws-sdk/types';
import { Client, type ClientOptions, policies, types } from 'cassandra-driver';
import { CERTIFICATE_AUTHORITIES } from './certificate-authorities';
import { SigV4AuthProvider } from './sigv4-authenticator';

/** The only port for CQL over TLS. Source: the Amazon Keyspaces developer guide, "Service endpoints". */
const PORT = 9142;

/** If Amazon Keyspaces does not respond for this time, the function sends the request again on another connection. */
const SILENCE_MS = 5_000;

/**
 * The number of connections to each host. Amazon Keyspaces accepts 3,000 requests a second on each connection, and has
 * nine hosts. Within a VPC, it has fewer hosts.
 */
const CONNECTIONS_PER_HOST = 2;

/**
 * Settings that read numbers without loss. A `varint` stays an `Integer` of the driver. A conversion of 150,000 digits
 * to a bigint would block the event loop for seconds.
 */
export const ENCODING = { useBigIntAsLong: true, map: Map, set: Set };

/** A client of Amazon Keyspaces. The client connects when it sends the first statement. */
export function keyspacesClient(region: string, credentials?: AwsCredentialIdentityProvider): Client {
  return new Client(clientOptions(region, credentials));
}

/** The driver makes no retries, because the fan-out makes its own retries and recognises a throttled shard. */
export function clientOptions(region: string, credentials: AwsCredentialIdentityProvider = fromEnv()): ClientOptions {
  const host = `cassandra.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return {
    contactPoints: [host],
    localDataCenter: region,
    protocolOptions: { port: PORT },
    // By default the driver accepts any certificate. It connects to IP addresses, so `servername` sets the name that
    // the certificate must contain.
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
