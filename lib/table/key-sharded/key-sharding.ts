import { Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { constructField } from '../../construct/construct-field';
import { checkOwnEnvironment } from '../../construct/own-environment';
import type { ShardedTableConfig } from '../../core/sharded-index/config/sharded-index-config';
import { bindConfig } from '../../function/bind-config';
import { replicaOf } from '../index/replica-of';
import type { ShardedIndexBindingOptions } from '../index/sharded-index-binding-options';
import type { IKeyShardedTable } from './i-key-sharded-table';
import { KeyShardedTableGrants } from './key-sharded-table-grants';

/** What readers and writers of a table that is sharded by its own key are given, whether the app creates it or imports it. */
export class KeySharding implements IKeyShardedTable {
  public readonly shardGrants: KeyShardedTableGrants;
  private readonly replicas: { [region: string]: KeySharding } = {};

  constructor(
    public readonly table: dynamodb.ITableV2,
    public readonly queryName: string,
    private readonly config: ShardedTableConfig,
  ) {
    this.shardGrants = KeyShardedTableGrants.fromTable(table);
  }

  public bindWriter(writer: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.bind('bindWriter', writer, binding);
    return this.shardGrants.item(writer).combine(this.shardGrants.write(writer));
  }

  public bindReader(reader: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.bind('bindReader', reader, binding);
    return this.shardGrants.query(reader).combine(this.shardGrants.item(reader));
  }

  public toConfigJson(): string {
    return this.table.stack.toJsonString(this.config);
  }

  public onReplica(region: string): IKeyShardedTable {
    if (region === this.table.env.region) return this;
    this.replicas[region] ??= new KeySharding(replicaOf(this.table, region), this.queryName, this.config);
    return this.replicas[region];
  }

  public metricWriteThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.sum('WriteThrottleEvents', props);
  }

  public metricReadThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.sum('ReadThrottleEvents', props);
  }

  public metricWriteKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.sum('WriteKeyRangeThroughputThrottleEvents', props);
  }

  public metricReadKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.sum('ReadKeyRangeThroughputThrottleEvents', props);
  }

  private sum(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.table.metric(metricName, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  private bind(method: string, bound: lambda.Function, { environmentVariable }: ShardedIndexBindingOptions): void {
    const { table, queryName: name, config } = this;
    checkOwnEnvironment(constructField(bound, method), `the table ${name}`, table, Stack.of(bound));
    bindConfig({ name, config, json: this.toConfigJson() }, bound, environmentVariable);
  }
}
