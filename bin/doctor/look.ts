import type { CloudWatch } from '@aws-sdk/client-cloudwatch';
import type { DynamoDB, TableDescription } from '@aws-sdk/client-dynamodb';
import type { Kinesis } from '@aws-sdk/client-kinesis';
import type { IndexKeyAttribute } from '../../lib/core/sharded-index/config/index-rejections';
import { tableState } from '../deployed-stack/resource-state';
import type { Measured, Missing } from './observations';

/** The clients of the doctor. The doctor only reads. */
export interface DoctorClients {
  readonly kinesis: Kinesis;
  readonly dynamodb: DynamoDB;
  /** Absent in a local run, which has no Contributor Insights. */
  readonly cloudwatch?: Pick<CloudWatch, 'getInsightRuleReport'>;
}

export interface DoctorOptions {
  /** Whether to read all items of the tables, to find items that no query returns. */
  readonly scan: boolean;
  /** The endpoint of the tables, if they are not in the account. */
  readonly endpoint: string | undefined;
  readonly hours: number;
  /** The budget of a sample of each table without shards, in read units. Absent: read no item. */
  readonly sampleUnits?: number;
  /** The key attributes of an index that the user wants to add to the only table. */
  readonly wanted?: readonly IndexKeyAttribute[];
  onProgress(line: string): void;
}

/** Runs a measurement. If the role may not do an action, reports the missing measurement, and returns undefined. */
export type Measure = <T extends object>(
  path: string,
  noun: string,
  actions: readonly string[],
  read: () => Promise<T | Missing>,
) => Promise<T | undefined>;

/** The clients, the options and the functions with which the doctor looks at each resource. */
export interface Look {
  readonly clients: DoctorClients;
  readonly measured: Measured;
  readonly options: DoctorOptions;
  readonly measure: Measure;
}

/** Undefined if the account does not allow it. Without a description, the keys and the limits are not known. */
export function describeTable(
  { clients: { dynamodb }, measure }: Look,
  path: string,
  tableName: string,
): Promise<{ table?: TableDescription | undefined } | undefined> {
  return measure(path, 'the keys and the limits', ['dynamodb:DescribeTable'], () =>
    tableState({ dynamodb }, tableName),
  );
}
