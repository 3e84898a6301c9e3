import { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { Client } from 'cassandra-driver';
import { cassandraClient } from '../../lambda/keyspaces-query-fanout/cassandra-client';
import { keyspacesClient } from '../../lambda/keyspaces-query-fanout/keyspaces-client';
import { EvenShardsError, shortened } from '../../lib/core/kernel/errors';
import { UsageError } from '../flags';

/** The address of a Cassandra database. */
export interface CassandraAddress {
  readonly host: string;
  readonly port: number;
}

/** A Cassandra database does not respond, or rejects a statement. */
export class CassandraError extends EvenShardsError {
  /**
   * @param what the failed action, such as "cannot connect to 127.0.0.1:9042"; the message continues with the reason
   */
  constructor(what: string, cause: unknown) {
    super('CASSANDRA', `${what}: ${reasonOf(cause)}`, { cause });
  }
}

/** Source: cassandra.yaml of Apache Cassandra, native_transport_port. */
const DEFAULT_PORT = 9042;

/** Parses the value of `--cassandra`: `HOST`, `HOST:PORT` or `[IPV6]:PORT`. */
export function cassandraAddress(command: string, text: string): CassandraAddress {
  const [, bracketed, host = bracketed, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (host !== undefined && number >= 1 && number <= 65_535) return { host, port: number };
  throw new UsageError(
    `--cassandra must be HOST or HOST:PORT, such as 127.0.0.1:9042, got "${shortened(text)}"`,
    command,
  );
}

/** An address in the form that the driver accepts. */
export function contactPointOf({ host, port }: CassandraAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** @throws CassandraError if the database cannot be reached */
export async function connectToCassandra(address: CassandraAddress): Promise<Client> {
  const contactPoint = contactPointOf(address);
  return connected(cassandraClient(contactPoint), `a Cassandra at ${contactPoint}`);
}

/**
 * Connects to Amazon Keyspaces, with the credentials of the environment, of a profile, or of the machine.
 *
 * @throws CassandraError if the database cannot be reached
 */
export async function connectToKeyspaces(region: string): Promise<Client> {
  const { credentials } = new DynamoDB({ region }).config;
  return connected(keyspacesClient(region, credentials), `Amazon Keyspaces in ${region}`);
}

async function connected(client: Client, where: string): Promise<Client> {
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.shutdown().catch(() => {});
    throw new CassandraError(`cannot connect to ${where}`, error);
  }
}

/** The error of the first host, instead of the driver's "All host(s) tried for query failed". */
function reasonOf(error: unknown): string {
  const { innerErrors, message }: { innerErrors?: object; message?: string } = Object(error);
  const [inner] = Object.values(innerErrors ?? {});
  return shortened(Object(inner).message ?? message ?? String(error));
}
