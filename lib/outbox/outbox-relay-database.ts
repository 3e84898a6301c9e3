import { Token } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as rds from 'aws-cdk-lib/aws-rds';
import type * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import type { IConstruct } from 'constructs';
import { allowConnection } from '../construct/allow-connection';
import { constructField } from '../construct/props';
import { templateProperties } from '../construct/template-properties';
import { InvalidArgumentError } from '../core/kernel/errors';

/** How an outbox relay logs in, and where. */
export interface OutboxRelayDatabaseOptions {
  /**
   * The database within the server: 1 to 63 bytes in UTF-8.
   *
   * @default - `postgres`
   */
  readonly databaseName?: string;

  /**
   * A secret with `username` and `password`, as RDS makes it. Exactly one of `secret` and `iamUser` must be given.
   *
   * @default - the relay authenticates by IAM, as `iamUser`
   */
  readonly secret?: secretsmanager.ISecret;

  /**
   * A database user with the role `rds_iam`: the relay authenticates by IAM, without a password. The server must have IAM
   * authentication. 1 to 63 bytes in UTF-8, without `*` and `?`, which would allow other users, too.
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

/** The Postgres database of an outbox: a cluster, an instance, or a proxy before one. */
export class OutboxRelayDatabase {
  /**
   * An Aurora cluster, by its writer endpoint.
   *
   * @param cluster the cluster
   * @param options how to log in
   * @throws an error with the code `INVALID_ARGUMENT` for a server that is none of Postgres, for a name that Postgres cannot
   *   have, and for an `iamUser` of a cluster of this app without IAM authentication
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
   * An RDS instance.
   *
   * @param instance the instance
   * @param options how to log in
   * @throws an error with the code `INVALID_ARGUMENT` for a server that is none of Postgres, and for a name that Postgres
   *   cannot have
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
   * An RDS Proxy. It pins the relay's connection from its first `SET` on, so it saves the relay nothing. But it may be the only
   * way to the database.
   *
   * @param proxy the proxy, of this app
   * @param options how to log in
   * @throws an error with the code `INVALID_ARGUMENT` for an imported proxy, for one of MySQL, for a name that Postgres cannot
   *   have, and for a proxy that lets nobody log in so
   */
  public static fromProxy(proxy: rds.DatabaseProxy, options: OutboxRelayDatabaseOptions): OutboxRelayDatabase {
    if (proxy.connections === undefined) {
      const allowed =
        'a proxy of this app: an imported one does not tell its security groups, so import the database behind it';
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

  /** The name of the server. */
  public readonly host: string;
  /** Its port. */
  public readonly port: string;
  /** The database within the server. */
  public readonly databaseName: string;
  /** The secret with `username` and `password`, unless the relay authenticates by IAM. */
  public readonly secret?: secretsmanager.ISecret;
  /** The database user, if the relay authenticates by IAM. */
  public readonly iamUser?: string;

  private constructor(private readonly parts: Parts) {
    const { secret, iamUser } = parts;
    if ((secret === undefined) === (iamUser === undefined)) {
      throw new InvalidArgumentError('iamUser', iamUser, 'given if and only if no secret is');
    }
    checkName('databaseName', parts.databaseName);
    checkName('iamUser', iamUser);
    if (!Token.isUnresolved(iamUser) && /[*?]/.test(iamUser ?? '')) {
      throw new InvalidArgumentError('iamUser', iamUser, 'without * and ?, which a policy of IAM takes for any user');
    }
    this.host = parts.host;
    this.port = parts.port;
    this.databaseName = parts.databaseName ?? 'postgres';
    this.secret = secret;
    this.iamUser = iamUser;
  }

  /** Lets a function reach the database and log in. @internal */
  public _allow(relay: iam.IGrantable & ec2.IConnectable): void {
    const { secret, iamUser, connections, port, grantConnect } = this.parts;
    const ofDatabase = connections.defaultPort ?? ec2.Port.tcp(Number(port));
    allowConnection(relay, { connections }, ofDatabase, 'the relay of the outbox');
    if (iamUser !== undefined) grantConnect(relay, iamUser);
    else secret!.grantRead(relay);
  }
}

/** An outbox is in Postgres. Of a server that is imported the engine may not be known. */
function checkEngine(field: string, engine: rds.IEngine | undefined): void {
  if (engine?.engineFamily === undefined || engine.engineFamily === 'POSTGRESQL') return;
  throw new InvalidArgumentError(field, engine.engineType, 'a server of Postgres');
}

/** To grant the connection switches it on for an instance, and not for a cluster. */
function checkIamOfCluster(cluster: rds.IDatabaseCluster): void {
  const resource = cluster.node.defaultChild;
  if (!(resource instanceof rds.CfnDBCluster)) return;
  const { EnableIAMDatabaseAuthentication: isEnabled } = templateProperties<{
    EnableIAMDatabaseAuthentication?: unknown;
  }>(resource);
  if (isUnknown(isEnabled) || isEnabled === true) return;
  const field = constructField(cluster, 'iamAuthentication');
  throw new InvalidArgumentError(field, isEnabled, 'true, or the relay be given a secret in place of iamUser');
}

/** A proxy lets users log in by IAM alone, or by password alone. */
function checkProxy(proxy: IConstruct, { iamUser }: OutboxRelayDatabaseOptions): void {
  const resource = proxy.node.defaultChild;
  if (!(resource instanceof rds.CfnDBProxy)) return;
  const { EngineFamily, Auth, DefaultAuthScheme } = templateProperties<{
    EngineFamily?: unknown;
    Auth?: { IAMAuth?: unknown }[];
    DefaultAuthScheme?: unknown;
  }>(resource);
  if (!isUnknown(EngineFamily) && EngineFamily !== 'POSTGRESQL') {
    throw new InvalidArgumentError('proxy', EngineFamily, 'a proxy before a server of Postgres');
  }
  const wants = iamUser !== undefined;
  const allows = (Auth ?? []).map(({ IAMAuth }) => isUnknown(IAMAuth) || (IAMAuth === 'REQUIRED') === wants);
  const isOfIam = DefaultAuthScheme === 'IAM_AUTH' && wants;
  if (isOfIam || isUnknown(DefaultAuthScheme) || allows.some(Boolean)) return;
  const advice = wants
    ? 'true, or the relay be given a secret in place of iamUser'
    : 'false, or the relay be given an iamUser';
  throw new InvalidArgumentError(constructField(proxy, 'iamAuth'), !wants, advice);
}

/** Whether only the deployment knows it. */
function isUnknown(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** Postgres cuts longer names off. Source: its manual, identifiers. */
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
