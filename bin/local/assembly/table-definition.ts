import type {
  AttributeDefinition,
  CreateTableCommandInput,
  GlobalSecondaryIndex,
  KeySchemaElement,
  LocalSecondaryIndex,
  ProvisionedThroughput,
  StreamSpecification,
} from '@aws-sdk/client-dynamodb';
import { fields, listOf, optional, text } from './json-shape';
import { LeftOutReason } from './left-out';

/** The properties of `AWS::DynamoDB::Table` and `AWS::DynamoDB::GlobalTable` that CreateTable accepts. */
export interface TableProperties {
  readonly KeySchema: KeySchemaElement[];
  readonly AttributeDefinitions: AttributeDefinition[];
  readonly BillingMode?: 'PAY_PER_REQUEST' | 'PROVISIONED';
  readonly GlobalSecondaryIndexes?: readonly IndexProperties[];
  readonly LocalSecondaryIndexes?: LocalSecondaryIndex[];
  readonly ProvisionedThroughput?: ProvisionedThroughput;
  readonly WriteProvisionedThroughputSettings?: WriteSettings;
  readonly Replicas?: readonly ReplicaProperties[];
  readonly StreamSpecification?: Pick<StreamSpecification, 'StreamViewType'>;
}

const KEY_SCHEMA = listOf(fields({ AttributeName: text, KeyType: text }));
const INDEXES = optional(listOf(fields({ IndexName: text, KeySchema: KEY_SCHEMA })));

/** The shape that the resolved properties of a table must have for `createTableInput`. */
export const TABLE_PROPERTIES = fields({
  KeySchema: KEY_SCHEMA,
  AttributeDefinitions: listOf(fields({ AttributeName: text, AttributeType: text })),
  BillingMode: optional(text),
  GlobalSecondaryIndexes: INDEXES,
  LocalSecondaryIndexes: INDEXES,
  StreamSpecification: optional(fields({ StreamViewType: text })),
  Replicas: optional(listOf(fields({ GlobalSecondaryIndexes: optional(listOf(fields({ IndexName: text }))) }))),
});

const INDEX = { IndexName: true, KeySchema: true, Projection: true } as const;
const CAPACITY = { MinCapacity: true, SeedCapacity: true } as const;
const READ_SETTINGS = { ReadCapacityUnits: true, ReadCapacityAutoScalingSettings: CAPACITY } as const;
const WRITE_SETTINGS = { WriteCapacityUnits: true, WriteCapacityAutoScalingSettings: CAPACITY } as const;

/**
 * The properties of an on-demand table that CreateTable needs. A template can have more properties, such as a KMS key.
 */
export const ON_DEMAND_TABLE = {
  KeySchema: true,
  AttributeDefinitions: true,
  BillingMode: true,
  GlobalSecondaryIndexes: INDEX,
  LocalSecondaryIndexes: INDEX,
} as const;

/** The properties of a table with provisioned throughput that CreateTable needs. */
export const PROVISIONED_TABLE = {
  ...ON_DEMAND_TABLE,
  GlobalSecondaryIndexes: { ...INDEX, ProvisionedThroughput: true, WriteProvisionedThroughputSettings: WRITE_SETTINGS },
  ProvisionedThroughput: true,
  WriteProvisionedThroughputSettings: WRITE_SETTINGS,
  Replicas: {
    ReadProvisionedThroughputSettings: READ_SETTINGS,
    GlobalSecondaryIndexes: { IndexName: true, ReadProvisionedThroughputSettings: READ_SETTINGS },
  },
} as const;

/** Features that dynalite lacks and other emulators of DynamoDB can have. */
export interface TableSupport {
  readonly multiAttributeKeys?: boolean;
}

/** Converts the properties of a table to the input of CreateTable. */
export function createTableInput(
  tableName: string,
  properties: TableProperties,
  { multiAttributeKeys = false }: TableSupport = {},
): CreateTableCommandInput {
  const indexes = properties.GlobalSecondaryIndexes ?? [];
  if (!multiAttributeKeys) {
    refuseMultiAttributeKeys([...indexes, ...(properties.LocalSecondaryIndexes ?? [])]);
  }
  const provisioned = properties.BillingMode !== 'PAY_PER_REQUEST';
  return {
    TableName: tableName,
    KeySchema: properties.KeySchema,
    AttributeDefinitions: properties.AttributeDefinitions,
    BillingMode: provisioned ? 'PROVISIONED' : 'PAY_PER_REQUEST',
    ...(provisioned && { ProvisionedThroughput: throughput(properties, properties.Replicas?.[0]) }),
    ...(indexes.length > 0 && {
      GlobalSecondaryIndexes: indexes.map((index) =>
        globalSecondaryIndex(index, properties.Replicas?.[0], provisioned),
      ),
    }),
    ...(properties.LocalSecondaryIndexes && { LocalSecondaryIndexes: properties.LocalSecondaryIndexes }),
    ...(properties.StreamSpecification && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: properties.StreamSpecification.StreamViewType },
    }),
  };
}

interface WriteSettings {
  readonly WriteCapacityUnits?: number;
  readonly WriteCapacityAutoScalingSettings?: AutoScalingSettings;
}

interface ReadSettings {
  readonly ReadCapacityUnits?: number;
  readonly ReadCapacityAutoScalingSettings?: AutoScalingSettings;
}

interface AutoScalingSettings {
  readonly MinCapacity: number;
  readonly SeedCapacity?: number;
}

interface IndexProperties
  extends Pick<GlobalSecondaryIndex, 'IndexName' | 'KeySchema' | 'Projection' | 'ProvisionedThroughput'> {
  readonly WriteProvisionedThroughputSettings?: WriteSettings;
}

interface ReplicaProperties {
  readonly ReadProvisionedThroughputSettings?: ReadSettings;
  readonly GlobalSecondaryIndexes?: readonly {
    readonly IndexName: string;
    readonly ReadProvisionedThroughputSettings?: ReadSettings;
  }[];
}

/** Leaves out a table that DynamoDB accepts but dynalite does not. */
function refuseMultiAttributeKeys(indexes: readonly Pick<IndexProperties, 'IndexName' | 'KeySchema'>[]): void {
  for (const { IndexName, KeySchema = [] } of indexes) {
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

function globalSecondaryIndex(
  index: IndexProperties,
  replica: ReplicaProperties | undefined,
  provisioned: boolean,
): GlobalSecondaryIndex {
  const { IndexName, KeySchema, Projection } = index;
  const replicaIndex = replica?.GlobalSecondaryIndexes?.find((candidate) => candidate.IndexName === IndexName);
  return {
    IndexName,
    KeySchema,
    Projection,
    ...(provisioned && { ProvisionedThroughput: throughput(index, replicaIndex) }),
  };
}

/**
 * The throughput of a table or an index. A GlobalTable has a write capacity for all replicas, and a read capacity for
 * each replica.
 */
function throughput(
  declared: Pick<TableProperties, 'ProvisionedThroughput' | 'WriteProvisionedThroughputSettings'>,
  replica: Pick<ReplicaProperties, 'ReadProvisionedThroughputSettings'> | undefined,
): ProvisionedThroughput {
  const write = declared.WriteProvisionedThroughputSettings;
  const read = replica?.ReadProvisionedThroughputSettings;
  return (
    declared.ProvisionedThroughput ?? {
      ReadCapacityUnits: read?.ReadCapacityUnits ?? initialCapacity(read?.ReadCapacityAutoScalingSettings),
      WriteCapacityUnits: write?.WriteCapacityUnits ?? initialCapacity(write?.WriteCapacityAutoScalingSettings),
    }
  );
}

function initialCapacity(settings: AutoScalingSettings | undefined): number | undefined {
  return settings?.SeedCapacity ?? settings?.MinCapacity;
}
