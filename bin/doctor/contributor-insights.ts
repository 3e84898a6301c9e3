import type { CloudWatch } from '@aws-sdk/client-cloudwatch';
import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { IncompleteAnswerError } from '../../lib/core/kernel/incomplete-answer-error';

/** The parts of the clients that read Contributor Insights. */
interface InsightClients {
  readonly dynamodb: Pick<DynamoDB, 'describeContributorInsights'>;
  readonly cloudwatch: Pick<CloudWatch, 'getInsightRuleReport'>;
}

/** The actions on tables and indexes, and the actions on rules. */
export const INSIGHT_ACTIONS = ['dynamodb:DescribeContributorInsights', 'cloudwatch:GetInsightRuleReport'] as const;

/** A key in the Contributor Insights of a table or an index. */
export interface ReportedKey {
  /** The values of the key attributes, as texts. */
  readonly key: readonly string[];
  /** The part of all accesses or throttles that this key has, from 0 to 1. */
  readonly share: number;
}

/** The busiest keys of a table or an index. */
export interface KeyReport {
  /** The counted requests: all accesses, or only throttled requests. */
  readonly counted: 'accesses' | 'throttles';
  /** The partition keys, busiest first. */
  readonly partitionKeys: readonly ReportedKey[];
  /** The items, busiest first. Empty if the key has no sort key, or if there is no rule for items. */
  readonly items: readonly ReportedKey[];
}

/**
 * The prefixes of rule names. PK rules count partition keys, SK rules count items. C rules count accesses, T rules count
 * throttles. In the mode THROTTLED_KEYS there are only T rules. Source: the DynamoDB developer guide, "CloudWatch contributor
 * insights for DynamoDB rules".
 */
const RULES = {
  accesses: { partitionKeys: 'DynamoDBContributorInsights-PKC-', items: 'DynamoDBContributorInsights-SKC-' },
  throttles: { partitionKeys: 'DynamoDBContributorInsights-PKT-', items: 'DynamoDBContributorInsights-SKT-' },
} as const;

/** The maximum number of keys in a report of DynamoDB. */
const MAX_KEYS = 25;

/**
 * Reads the busiest keys of a table or an index. Prefers the throttled keys. Contributor Insights do not count writes that an
 * index throttles, so a report of an index often has only accesses. Source: the DynamoDB developer guide, "CloudWatch contributor
 * insights: How it works".
 *
 * @returns the report, or the reason why there is no report
 */
export async function readKeyReport(
  { dynamodb, cloudwatch }: InsightClients,
  { tableName, indexName }: { readonly tableName: string; readonly indexName?: string | undefined },
  hours: number,
  nowMs: number,
): Promise<KeyReport | string> {
  const { ContributorInsightsRuleList, ContributorInsightsStatus } = await dynamodb.describeContributorInsights({
    TableName: tableName,
    ...(indexName !== undefined && { IndexName: indexName }),
  });
  const rules = ContributorInsightsRuleList ?? [];
  if (rules.length === 0) return `Contributor Insights are ${ContributorInsightsStatus?.toLowerCase() ?? 'disabled'}`;
  const minuteMs = 60_000;
  const EndTime = new Date(Math.floor(nowMs / minuteMs) * minuteMs);
  const StartTime = new Date(EndTime.getTime() - hours * 60 * minuteMs);
  const keysOf = async (prefix: string): Promise<ReportedKey[]> => {
    const RuleName = rules.find((rule) => rule.startsWith(prefix));
    if (RuleName === undefined) return [];
    const { Contributors, AggregateValue = 0 } = await cloudwatch.getInsightRuleReport({
      RuleName,
      StartTime,
      EndTime,
      Period: minuteMs / 1_000,
      MaxContributorCount: MAX_KEYS,
      OrderBy: 'Sum',
    });
    // Without this check, an incomplete response would look like a table without busy keys.
    if (!Array.isArray(Contributors)) throw new IncompleteAnswerError('GetInsightRuleReport', 'Contributors');
    return Contributors.map(({ Keys = [], ApproximateAggregateValue = 0 }) => ({
      key: Keys,
      share: AggregateValue > 0 ? Math.min(1, ApproximateAggregateValue / AggregateValue) : 0,
    }));
  };
  for (const counted of ['throttles', 'accesses'] as const) {
    const partitionKeys = await keysOf(RULES[counted].partitionKeys);
    if (partitionKeys.length > 0) return { counted, partitionKeys, items: await keysOf(RULES[counted].items) };
  }
  return `Contributor Insights have no key in the last ${hours} hours`;
}
