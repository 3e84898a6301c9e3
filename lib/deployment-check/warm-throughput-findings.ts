import type { Properties } from '../cloudformation/template';
import type { ResourceChange } from './compared-stacks';
import { type Finding, finding } from './finding';
import { indexesOf } from './index-and-replica-findings';

const UNITS = ['ReadUnitsPerSecond', 'WriteUnitsPerSecond'] as const;

/**
 * The warm throughput of an on-demand table or index that never had more load. Source: the DynamoDB developer guide,
 * "Understanding DynamoDB warm throughput".
 */
const LEAST_ON_DEMAND: Readonly<Record<string, number>> = { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 4_000 };

/**
 * Findings for a decrease of warm throughput, which DynamoDB rejects. DynamoDB also increases warm throughput when the load
 * grows, so only the account knows the present value.
 */
export function warmThroughputFindings(change: ResourceChange): Finding[] {
  const { deployed, synthesized } = change;
  const isOnDemand = deployed.Properties?.BillingMode === 'PAY_PER_REQUEST';
  const before = new Map(indexesOf(deployed).map((index) => [index.IndexName, index]));
  return [
    ...decreases('the table', deployed.Properties ?? {}, synthesized.Properties ?? {}, isOnDemand),
    ...indexesOf(synthesized).flatMap((index) => {
      const existing = before.get(index.IndexName);
      return existing === undefined ? [] : decreases(`index ${index.IndexName}`, existing, index, isOnDemand);
    }),
  ].map((text) => finding(change, 'Deployment.warmThroughput', 'refused', 'revise', text));
}

function decreases(of: string, deployed: Properties, synthesized: Properties, isOnDemand: boolean): string[] {
  const [before, next] = [deployed, synthesized].map(({ WarmThroughput }) => Object(WarmThroughput));
  const changes = UNITS.flatMap((unit) => {
    const [from, to] = [before[unit] ?? (isOnDemand ? LEAST_ON_DEMAND[unit] : undefined), next[unit]].map(Number);
    return to! < from! ? [`${unit} from ${from} to ${to}`] : [];
  });
  if (changes.length === 0) return [];
  return [
    `the warm throughput of ${of} would decrease (${changes.join(', ')}), and DynamoDB rejects every decrease. Keep the earlier value, or remove ` +
      'WarmThroughput from the template: DynamoDB then keeps the present value.',
  ];
}
