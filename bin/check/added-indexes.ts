import { listOf, ownResource, type Properties } from '../../lib/cloudformation/template';
import { readGuide } from '../../lib/construct/guide-link';
import type { DynamoDbItem } from '../../lib/core/aws-client/attribute-value';
import {
  type AttributeRejections,
  type IndexKeyAttribute,
  indexRejections,
  type KeyAttributeType,
  type RejectionReason,
} from '../../lib/core/sharded-index/config/index-rejections';
import { OF_TABLES_WITH_ITEMS } from '../../lib/deployment-check/adoption-findings';
import { type Finding, finding } from '../../lib/deployment-check/finding';
import { indexesOf, indexNames } from '../../lib/deployment-check/index-and-replica-findings';
import type { Comparison, DeployedTable } from './stack-changes';

/** The IAM action that reads a sample of a table that gets an index. */
export const ITEM_ACTIONS = ['dynamodb:Scan'] as const;

/** A sample has this many parts of the table, and at most this many items of each part. */
const SEGMENTS = 10;
const ITEMS_OF_SEGMENT = 100;

const GUIDE = readGuide('adopt', 'an-index-must-not-break-writers');

const REASONS: Readonly<Record<RejectionReason, string>> = {
  otherType: 'another type',
  null: 'NULL',
  empty: 'an empty value',
  tooLong: 'a value that is too long',
};

/**
 * Reads a sample of each deployed table that gets an index. Adds a finding if the index would reject items, and leaves out
 * the findings that are true only for a table with items. Without the permission, keeps all findings.
 */
export async function findingsWithItems(
  findings: readonly Finding[],
  { deployedTables, changes, pathOf }: Comparison,
): Promise<{ findings: Finding[]; notCompared: string[] }> {
  const notCompared: string[] = [];
  let found = [...findings];
  for (const table of deployedTables) {
    const change = changes.find(({ stack }) => stack === table.stack)!;
    const [before, next] = [change.deployed, change.synthesized].map((each) => ownResource(each, table.logicalId));
    const existing = indexNames(before ?? {});
    const added = indexesOf(next ?? {}).filter(({ IndexName }) => !existing.includes(IndexName));
    if (next === undefined || added.length === 0) continue;
    const sample = await sampleOf(table);
    const isOfTable = ({ stack, logicalId }: Finding) => stack === table.stack && logicalId === table.logicalId;
    if (sample === undefined) {
      notCompared.push(`the items of ${pathOf(table.stack, table.logicalId)}: dynamodb:Scan is not allowed`);
    } else if (sample.length === 0) {
      found = found.filter((each) => !isOfTable(each) || !OF_TABLES_WITH_ITEMS.includes(each.id));
    } else {
      const types = next.Properties?.AttributeDefinitions;
      found.push(...added.flatMap((index) => rejectedItems(table, index.IndexName, keyOf(index, types), sample)));
    }
  }
  return { findings: found, notCompared };
}

/** A sample of the items of a table. Undefined if the account does not allow to read the items. */
async function sampleOf({ client, name }: DeployedTable): Promise<DynamoDbItem[] | undefined> {
  try {
    const { Items: first = [] } = await client.scan({ TableName: name, Limit: 1 });
    const items: DynamoDbItem[] = [];
    for (let Segment = 0; Segment < SEGMENTS && first.length > 0; Segment += 1) {
      const part = { TableName: name, Segment, TotalSegments: SEGMENTS, Limit: ITEMS_OF_SEGMENT };
      const { Items = [] } = await client.scan(part);
      items.push(...(Items as DynamoDbItem[]));
    }
    return items;
  } catch (error) {
    if ((error as Error).name === 'AccessDeniedException') return undefined;
    throw error;
  }
}

function keyOf({ KeySchema }: Properties, definitions: unknown): IndexKeyAttribute[] {
  const types = new Map(
    listOf<{ AttributeName: string; AttributeType: KeyAttributeType }>(definitions).map((each) => [
      each.AttributeName,
      each.AttributeType,
    ]),
  );
  return listOf<{ AttributeName: string; KeyType: string }>(KeySchema).flatMap(({ AttributeName: name, KeyType }) => {
    const type = types.get(name);
    return type === undefined ? [] : [{ name, type, role: KeyType === 'HASH' ? 'partition' : 'sort' } as const];
  });
}

function rejectedItems(
  { stack, logicalId }: DeployedTable,
  indexName: string,
  key: readonly IndexKeyAttribute[],
  sample: readonly DynamoDbItem[],
): Finding[] {
  const { items, rejected, byAttribute } = indexRejections(key, sample);
  if (rejected === 0) return [];
  const parts = byAttribute.filter((each) => each.rejected > 0).map(describe);
  const text =
    `index ${indexName} would reject each put of such items, also by writers that do not know the index: ${percent(rejected / items)} of ${items} ` +
    `sampled items (${parts.join('; ')}). First correct these items and their writers, or add the index on another attribute.${GUIDE}`;
  return [finding({ stack, logicalId }, 'Deployment.indexRejectsItems', 'failing', 'prepare', text)];
}

function describe({ attribute, share, byReason }: AttributeRejections): string {
  const reasons = Object.entries(byReason).map(([reason, count]) => `${REASONS[reason as RejectionReason]}: ${count}`);
  return `${attribute.name} is not a valid ${attribute.type} in ${percent(share)} (${reasons.join(', ')})`;
}

function percent(share: number): string {
  return `${Math.max(0.1, Math.round(share * 1_000) / 10)} %`;
}
