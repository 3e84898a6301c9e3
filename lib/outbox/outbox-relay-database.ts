import { Token } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as rds from 'aws-cdk-lib/aws-rds';
import type * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import type { IConstruct } from 'constructs';
import { allowConnection } from '../construct/allow-connection';
import { warnIfKeyIsForeign } from '../construct/grant-on-key';
import { warnIfWithoutEffect } from '../construct/grant-without-effect';
import { constructField } from '../construct/props';
import { templateProperties } from '../construct/template-properties';
import { InvalidArgumentError } from '../core/kernel/errors';

/** The database name and the credentials with which an outbox relay logs in. */
export interface OutboxRelayDatabaseOptions {
  /**
   * The name of the database on the server: 1 to 63 bytes in UTF-8.
   *
   * @default - `postgres`
   */
  readonly databaseName?: string;

  /**
   * A secret with `username` and `password`, in the format of RDS. Set exactly one of `secret` and `iamUser`.
   *
   * @default - the relay authenticates with IAM, as `iamUser`
   */
  readonly secret?: secretsmanager.ISecret;

  /**
   * A database user with the role `rds_iam`: 1 to 63 bytes in UTF-8. The relay authenticates with IAM, without a
   * password. IAM authentication must be enabled on the server. The name must not contain `*` or `?`, because these
   * wildcards would also allow other users.
   *
   * @default - the relay authenticates with the secret
   */
  readonly iamUser?: string;
}

interface Parts extends OutboxRelayDatabaseOptions {
  readonly host: string;
  readonly port: string;
  readonly connections: ec2.Connections;
  readonly grantConnect: (grantee: iam.IGrantable, user: string) => iam.Grant;
}

/** The Postgres database of an outbox: an Aurora cluster, an RDS instance, or an RDS Proxy. */
export class OutboxRelayDatabase {
  /**
   * Returns the database of an Aurora cluster. The relay uses the writer endpoint.
   *
   * @param cluster the cluster
   * @param options the database name and the credentials
   * @throws an error with the code `INVALID_ARGUMENT` if the server is not a Postgres server, or if a name is not valid
   *   in Postgres
   * @throws an error with the code `INVALID_ARGUMENT` if `iamUser` is set, but the app defines the cluster without IAM
   * authentication
   */
  public static fromCluster(cluster: rds.IDatabaseCluster, options: OutboxRelayDatabaseOptions): OutboxRelayDatabase {
    checkEngine('cluster', cluster.engine);
    if (options.iamUser !== undefined) checkIamOfCluster(cluster);
    const { hostname, port } = cluster.clusterEndpoint;
    return new OutboxRelayDatabase({
      ...options,
      host: hostname,
      port: `${port}`,
      connections: cluster.connections,
      grantConnect: (grantee, user) => cluster.grantConnect(grantee, user),
    });
  }

  /**
   * Returns the database of an RDS instance.
   *
   * @param instance the instance
   * @param options the database name and the credentials
   * @throws an error with the code `INVALID_ARGUMENT` if the server is not a Postgres server, or if a name is not valid
   *   in Postgres
   */
  public static fromInstance(
    instance: rds.IDatabaseInstance,
    options: OutboxRelayDatabaseOptions,
  ): OutboxRelayDatabase {
    checkEngine('instance', instance.engine);
    return new OutboxRelayDatabase({
      ...options,
      host: instance.dbInstanceEndpointAddress,
      port: instance.dbInstanceEndpointPort,
      connections: instance.connections,
      grantConnect: (grantee, user) => instance.grantConnect(grantee, user),
    });
  }

  /**
   * Returns the database behind an RDS Proxy. The proxy pins the relay's connection after the first `SET`, so the relay
   * gains nothing from the proxy. Use it only if the relay cannot reach the database directly.
   *
   * @param proxy the proxy, of this app
   * @param options the database name and the credentials
   * @throws an error with the code `INVALID_ARGUMENT` if the proxy is imported, is not a Postgres proxy, or does not
   *   accept the credentials, or if a name is not valid in Postgres
   */
  public static fromProxy(proxy: rds.DatabaseProxy, options: OutboxRelayDatabaseOptions): OutboxRelayDatabase {
    if (proxy.connections === undefined) {
      const allowed =
        'a proxy of this app (an imported proxy has no security groups, so import the database behind the proxy)';
      throw new InvalidArgumentError('proxy', proxy.node.path, allowed);
    }
    checkProxy(proxy, options);
    return new OutboxRelayDatabase({
      ...options,
      host: proxy.endpoint,
      port: '5432',
      connections: proxy.connections,
      grantConnect: (grantee, user) => proxy.grantConnect(grantee, user),
    });
  }

  /** The host name of the server. */
  public readonly host: string;
  /** The port of the server. */
  public readonly port: string;
  /** The name of the database on the server. */
  public readonly databaseName: string;
  /** The secret with `username` and `password`, unless the relay authenticates with IAM. */
  public readonly secret?: secretsmanager.ISecret;
  /** The database user, if the relay authenticates with IAM. */
  public readonly iamUser?: string;

  private constructor(private readonly parts: Parts) {
    const { secret, iamUser } = parts;
    if ((secret === undefined) === (iamUser === undefined)) {
      throw new InvalidArgumentError('iamUser', iamUser, 'a user if there is no secret, and otherwise absent');
    }
    checkName('databaseName', parts.databaseName);
    checkName('iamUser', iamUser);
    if (!Token.isUnresolved(iamUser) && /[*?]/.test(iamUser ?? '')) {
      throw new InvalidArgumentError(
        'iamUser',
        iamUser,
        'without * and ? (wildcards, with which an IAM policy allows any user)',
      );
    }
    this.host = parts.host;
    this.port = parts.port;
    this.databaseName = parts.databaseName ?? 'postgres';
    this.secret = secret;
    this.iamUser = iamUser;
  }

  /** Allows a function to connect to the database and to log in. @internal */
  public _allow(relay: iam.IGrantable & ec2.IConnectable): void {
    const { secret, iamUser, connections, port, grantConnect } = this.parts;
    const ofDatabase = connections.defaultPort ?? ec2.Port.tcp(Number(port));
    allowConnection(relay, { connections }, ofDatabase, 'the relay of the outbox');
    if (iamUser !== undefined) grantConnect(relay, iamUser);
    else allowToRead(secret!, relay);
  }
}

function allowToRead(secret: secretsmanager.ISecret, grantee: iam.IGrantable): void {
  const construct = 'OutboxRelayFunction';
  const grant = secret.grantRead(grantee);
  warnIfWithoutEffect(secret, grant, {
    grantee,
    actions: ['secretsmanager:GetSecretValue'],
    construct,
    name: `the secret ${secret.node.id}`,
    hasOwnPolicy: secret.node.defaultChild !== undefined,
    remedy: 'allow it in the resource policy of the secret, where the secret is defined',
  });
  if (secret.encryptionKey) warnIfKeyIsForeign(secret.encryptionKey, grant, grantee, ['kms:Decrypt'], construct);
}

/** Checks that a server is a Postgres server. An imported server without an engine is not checked. */
function checkEngine(field: string, engine: rds.IEngine | undefined): void {
  if (engine?.engineFamily === undefined || engine.engineFamily === 'POSTGRESQL') return;
  throw new InvalidArgumentError(field, engine.engineType, 'a Postgres server');
}

/**
 * Checks that a cluster of this app has IAM authentication. `grantConnect` enables IAM authentication for an instance,
 * but not for a cluster.
 */
function checkIamOfCluster(cluster: rds.IDatabaseCluster): void {
  const resource = cluster.node.defaultChild;
  if (!(resource instanceof rds.CfnDBCluster)) return;
  const { EnableIAMDatabaseAuthentication: isEnabled } = templateProperties<{
    EnableIAMDatabaseAuthentication?: unknown;
  }>(resource);
  if (isUnknown(isEnabled) || isEnabled === true) return;
  const field = constructField(cluster, 'iamAuthentication');
  throw new InvalidArgumentError(field, isEnabled, 'true (or give the relay a secret instead of an iamUser)');
}

/**
 * Checks that a proxy of this app accepts the chosen authentication. A proxy accepts either IAM or passwords, but not
 * both.
 */
function checkProxy(proxy: IConstruct, { iamUser }: OutboxRelayDatabaseOptions): void {
  const resource = proxy.node.defaultChild;
  if (!(resource instanceof rds.CfnDBProxy)) return;
  const { EngineFamily, Auth, DefaultAuthScheme } = templateProperties<{
    EngineFamily?: unknown;
    Auth?: { IAMAuth?: unknown }[];
    DefaultAuthScheme?: unknown;
  }>(resource);
  if (!isUnknown(EngineFamily) && EngineFamily !== 'POSTGRESQL') {
    throw new InvalidArgumentError('proxy', EngineFamily, 'a proxy of a Postgres server');
  }
  const usesIam = iamUser !== undefined;
  const allows = (Auth ?? []).map(({ IAMAuth }) => isUnknown(IAMAuth) || (IAMAuth === 'REQUIRED') === usesIam);
  const isOfIam = DefaultAuthScheme === 'IAM_AUTH' && usesIam;
  if (isOfIam || isUnknown(DefaultAuthScheme) || allows.some(Boolean)) return;
  const allowed = usesIam
    ? 'true (or give the relay a secret instead of an iamUser)'
    : 'false (or give the relay an iamUser)';
  throw new InvalidArgumentError(constructField(proxy, 'iamAuth'), !usesIam, allowed);
}

/** Whether a value is an intrinsic function, which only the deployment resolves. */
function isUnknown(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** Postgres truncates longer names. Source: the Postgres manual, "Identifiers". */
const LONGEST_NAME_BYTES = 63;

function checkName(field: string, name: string | undefined): void {
  if (name === undefined || Token.isUnresolved(name)) return;
  const bytes = Buffer.byteLength(name);
  if (bytes >= 1 && bytes <= LONGEST_NAME_BYTES && !name.includes('\0')) return;
  throw new InvalidArgumentError(
    field,
    name,
    `1 to ${LONGEST_NAME_BYTES} bytes in UTF-8, without the character U+0000`,
  );
}
