import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { SHARDED_INDEXES, shardingMetadata } from '../../../lib/deployment-check/sharding-metadata';
import { type Declared, LeftOutReason, required } from './left-out';
import { arnAndName, type LocalResource } from './local-resource';
import { inSingleAttributes } from './single-attribute-layout';
import {
  createTableInput,
  ON_DEMAND_TABLE,
  PROVISIONED_TABLE,
  TABLE_PROPERTIES,
  type TableProperties,
  type TableSupport,
} from './table-definition';

export interface LocalTable extends LocalResource {
  /** Key schema, attribute definitions, indexes and billing mode, as CreateTable accepts them. */
  readonly definition: CreateTableCommandInput;
  /**
   * The indexes that have the single-attribute layout only in this run, because dynalite lacks multi-attribute keys.
   */
  readonly converted: readonly string[];
}

export function plannedTable(declared: Declared, support: TableSupport): LocalTable {
  const { scope, logicalId } = declared;
  if (scope.declared(logicalId).GlobalTableSourceArn !== undefined) {
    throw new LeftOutReason('it is a replica of a table in another account');
  }
  const { BillingMode } = required(scope.properties(logicalId, { BillingMode: true }));
  const properties = required(
    scope.properties(logicalId, BillingMode === 'PAY_PER_REQUEST' ? ON_DEMAND_TABLE : PROVISIONED_TABLE),
  );
  const resource = arnAndName(declared);
  // A table whose stream has an unknown view type runs without a stream, and the plan names the property.
  const stream = scope.properties(logicalId, { StreamSpecification: { StreamViewType: true } });
  const complete = { ...properties, ...('value' in stream && stream.value) } as unknown as TableProperties;
  const problem = TABLE_PROPERTIES(complete, '');
  if (problem !== undefined) throw new LeftOutReason(problem);
  const local = support.multiAttributeKeys
    ? { properties: complete, converted: [] }
    : inSingleAttributes(complete, shardingMetadata(scope.metadata(logicalId), SHARDED_INDEXES));
  return {
    ...resource,
    definition: createTableInput(resource.name, local.properties, support),
    converted: local.converted,
  };
}
