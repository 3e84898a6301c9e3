import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { SHARDED_INDEXES, shardingMetadata } from '../../../lib/deployment-check/sharding-metadata';
import { honouredProperties } from './ignored-properties';
import { fields, listOf, optional, text } from './json-shape';
import { type Declared, LeftOutReason } from './left-out';
import { arnAndName, type LocalResource } from './local-resource';
import { inSingleAttributes, type TableProperties } from './single-attribute-layout';

export interface LocalTable extends LocalResource {
  /** Key schema, attribute definitions, indexes and stream, as CreateTable accepts them. */
  readonly definition: CreateTableCommandInput;
  /**
   * The indexes that have the single-attribute layout only in this run, because dynalite lacks multi-attribute keys.
   */
  readonly converted: readonly string[];
}

/** Features that dynalite lacks and other emulators of DynamoDB can have. */
export interface TableSupport {
  readonly multiAttributeKeys?: boolean;
}

const KEY_SCHEMA = listOf(fields({ AttributeName: text, KeyType: text }));
const INDEXES = listOf(fields({ IndexName: text, KeySchema: KEY_SCHEMA }));
const TABLE = fields({
  AttributeDefinitions: listOf(fields({ AttributeName: text, AttributeType: text })),
  GlobalSecondaryIndexes: INDEXES,
  KeySchema: KEY_SCHEMA,
  LocalSecondaryIndexes: INDEXES,
  StreamSpecification: optional(fields({ StreamViewType: text })),
});

export function plannedTable(declared: Declared, { multiAttributeKeys = false }: TableSupport): LocalTable {
  const { scope, logicalId } = declared;
  if (scope.declared(logicalId).GlobalTableSourceArn !== undefined) {
    throw new LeftOutReason('it is a replica of a table in another account');
  }
  // A table whose stream has an unknown view type runs without a stream, and the plan names the property.
  const stream = scope.properties(logicalId, { StreamSpecification: { StreamViewType: true } });
  const table = {
    GlobalSecondaryIndexes: [],
    LocalSecondaryIndexes: [],
    ...honouredProperties(declared, 'StreamSpecification.StreamViewType'),
    ...('value' in stream && stream.value),
  } as unknown as TableProperties & Pick<CreateTableCommandInput, 'StreamSpecification'>;
  const problem = TABLE(table, '');
  if (problem !== undefined) throw new LeftOutReason(problem);
  const sharding = shardingMetadata(scope.metadata(logicalId), SHARDED_INDEXES);
  const { properties, converted } = multiAttributeKeys
    ? { properties: table, converted: [] }
    : inSingleAttributes(table, sharding);
  if (!multiAttributeKeys) refuseMultiAttributeKeys(properties);
  const { AttributeDefinitions, GlobalSecondaryIndexes, KeySchema, LocalSecondaryIndexes } = properties;
  const resource = arnAndName(declared);
  const definition: CreateTableCommandInput = {
    TableName: resource.name,
    KeySchema,
    AttributeDefinitions,
    BillingMode: 'PAY_PER_REQUEST',
    ...(GlobalSecondaryIndexes.length > 0 && { GlobalSecondaryIndexes }),
    ...(LocalSecondaryIndexes.length > 0 && { LocalSecondaryIndexes }),
    ...(table.StreamSpecification && { StreamSpecification: { ...table.StreamSpecification, StreamEnabled: true } }),
  };
  return { ...resource, definition, converted };
}

/** Leaves out a table that DynamoDB accepts but dynalite does not. */
function refuseMultiAttributeKeys({ GlobalSecondaryIndexes, LocalSecondaryIndexes }: TableProperties): void {
  for (const { IndexName, KeySchema = [] } of [...GlobalSecondaryIndexes, ...LocalSecondaryIndexes]) {
    const hasSeveral = (keyType: string) => KeySchema.filter((key) => key.KeyType === keyType).length > 1;
    if (hasSeveral('HASH') || hasSeveral('RANGE')) {
      const attributes = KeySchema.map(({ AttributeName }) => AttributeName).join(', ');
      throw new LeftOutReason(
        `its index ${IndexName} has a multi-attribute key (${attributes}), which dynalite lacks: use ` +
          '--dynamodb-endpoint with an emulator that supports them, such as DynamoDB Local, or give the index ' +
          'keyLayout: KeyLayout.SINGLE_ATTRIBUTE',
      );
    }
  }
}
