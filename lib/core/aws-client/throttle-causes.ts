/**
 * The causes of throttled requests. Each value is a part of the names of DynamoDB's throttling metrics, and of the texts in
 * `ThrottlingReasons`. More shards help only against the cause `keyRange`. DynamoDB has reported the causes since August 2025.
 *
 * Source: the DynamoDB developer guide, "Diagnosing throttling".
 */
export const THROTTLE_CAUSES = {
  keyRange: 'KeyRangeThroughput',
  provisioned: 'ProvisionedThroughput',
  onDemandMaximum: 'MaxOnDemandThroughput',
  accountLimit: 'AccountLimit',
} as const;

export type ThrottleCause = keyof typeof THROTTLE_CAUSES;

export type ThrottledOperation = 'Read' | 'Write';

/**
 * The metric that counts the requests that DynamoDB throttled for a cause. The dimensions of the metric are the table, or the
 * table and the index.
 */
export function throttleMetric<O extends ThrottledOperation, C extends ThrottleCause>(operation: O, cause: C) {
  return `${operation}${THROTTLE_CAUSES[cause]}ThrottleEvents` as const;
}
