import type { GetInsightRuleReportInput, GetInsightRuleReportOutput } from '@aws-sdk/client-cloudwatch';
import type { InsightContributor, InsightReports } from '../../lib/core/adaptive-counts/insight-minutes';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/config/sharded-index-config';

/** The part of `new DynamoDB({})` that lists the Contributor Insights rules of an index. */
interface RuleClient {
  describeContributorInsights(input: {
    TableName: string;
    IndexName: string;
  }): Promise<{ ContributorInsightsRuleList?: string[] | undefined }>;
}

/** The part of `new CloudWatch({})` that reads a report of a rule. */
export interface InsightClient {
  getInsightRuleReport(input: GetInsightRuleReportInput): Promise<GetInsightRuleReportOutput>;
}

/**
 * The prefixes of rule names: accessed keys and throttled keys of an index. Source: the DynamoDB developer guide,
 * "CloudWatch contributor insights for DynamoDB rules".
 */
const ACCESSED_KEYS = 'DynamoDBContributorInsights-PKC-';
const THROTTLED_KEYS = 'DynamoDBContributorInsights-PKT-';

/** The maximum number of keys in a report of DynamoDB. */
const MOST_CONTRIBUTORS = 25;

const LOOK_BACK_MS = 20 * 60_000;
const MINUTE_MS = 60_000;

/**
 * Reads the Contributor Insights of the index for the last 20 minutes. `hasAccessedKeys` is false if the index has no
 * rule for accessed keys. The reports then do not contain the writes that the index throttles.
 */
export async function readInsights(
  rules: RuleClient,
  cloudWatch: InsightClient,
  { tableName, indexName }: ShardedIndexConfig,
  now: number,
): Promise<InsightReports & { readonly hasAccessedKeys: boolean }> {
  const { ContributorInsightsRuleList: list } = await rules.describeContributorInsights({
    TableName: tableName,
    IndexName: indexName,
  });
  const names = (Array.isArray(list) ? list : []).filter((name) => typeof name === 'string');
  const [accessed, throttled] = [ACCESSED_KEYS, THROTTLED_KEYS].map((prefix) =>
    names.find((rule) => rule.startsWith(prefix)),
  );
  const endMs = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const contributorsOf = async (rule: string | undefined): Promise<InsightContributor[]> => {
    if (rule === undefined) return [];
    const { Contributors } = await cloudWatch.getInsightRuleReport({
      RuleName: rule,
      StartTime: new Date(endMs - LOOK_BACK_MS),
      EndTime: new Date(endMs),
      Period: MINUTE_MS / 1_000,
      MaxContributorCount: MOST_CONTRIBUTORS,
      OrderBy: 'Maximum',
    });
    return Array.isArray(Contributors) ? Contributors : [];
  };
  return {
    accessed: await contributorsOf(accessed),
    throttled: await contributorsOf(throttled),
    hasAccessedKeys: accessed !== undefined,
  };
}
