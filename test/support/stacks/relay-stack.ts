import { type App, Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as rds from 'aws-cdk-lib/aws-rds';
import {
  OutboxRelayDatabase,
  OutboxRelayFunction,
  type OutboxRelayFunctionProps,
  ShardMonitoring,
  UniformStream,
} from '../../../lib';

/** The relay of an outbox in an imported database, with monitoring. */
export class RelayStack extends Stack {
  readonly relay: OutboxRelayFunction;
  readonly monitoring: ShardMonitoring;

  constructor(app: App, options: Pick<OutboxRelayFunctionProps, 'memorySize' | 'reservedConcurrentExecutions'> = {}) {
    super(app, 'Outbox', { env: { account: '111111111111', region: 'eu-west-1' } });
    const vpc = ec2.Vpc.fromVpcAttributes(this, 'Vpc', {
      vpcId: 'vpc-1',
      availabilityZones: ['eu-west-1a'],
      privateSubnetIds: ['subnet-1'],
    });
    const cluster = rds.DatabaseCluster.fromDatabaseClusterAttributes(this, 'Database', {
      clusterIdentifier: 'database',
      clusterResourceIdentifier: 'cluster-1',
      clusterEndpointAddress: 'database.cluster-1.eu-west-1.rds.amazonaws.com',
      port: 5432,
      securityGroups: [ec2.SecurityGroup.fromSecurityGroupId(this, 'DatabaseGroup', 'sg-1')],
    });
    this.relay = new OutboxRelayFunction(this, 'Relay', {
      stream: new UniformStream(this, 'Events', { shardCount: 2 }),
      database: OutboxRelayDatabase.fromCluster(cluster, { iamUser: 'relay' }),
      vpc,
      ...options,
    });
    this.monitoring = new ShardMonitoring(this, 'Monitoring');
  }
}
