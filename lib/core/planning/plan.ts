/** One rule of a plan, and the number of shards that it requires. */
export interface PlanRule<Name extends string> {
  /** The name of the rule. */
  rule: Name;
  /** The smallest number of shards that satisfies this rule. */
  shards: number;
}

/** The utilization of a limit with the planned number of shards. */
export interface LimitUse<Name extends string> {
  /** The name of the limit. */
  limit: Name;
  /**
   * The used part of the limit: 0.5 is half of the limit. The traffic reaches the limit at 1 / `used` times its planned
   * rate.
   */
  used: number;
}

/** The rule that requires the most shards, or the first of several such rules. */
export function bindingRule<Name extends string>(rules: readonly PlanRule<Name>[]): PlanRule<Name> {
  return rules.reduce((most, rule) => (rule.shards > most.shards ? rule : most));
}

/** Sorts limits in the order in which growing traffic reaches them. */
export function byUse<Name extends string>(limits: readonly LimitUse<Name>[]): LimitUse<Name>[] {
  return [...limits].sort((a, b) => b.used - a.used);
}
