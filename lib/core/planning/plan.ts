/** One rule of a plan, and the shards that it asks for. */
export interface PlanRule<Name extends string> {
  /** The name of the rule. */
  rule: Name;
  /** The fewest shards that satisfy this rule. */
  shards: number;
}

/** How much of a limit the traffic uses with the planned number of shards. */
export interface LimitUse<Name extends string> {
  /** The name of the limit. */
  limit: Name;
  /** The used part of the limit: 0.5 is half of it. The traffic can grow 1 / `used` times before this limit breaks. */
  used: number;
}

/** The rule that asks for the most shards. If several ask for as many, it is the first of them. */
export function bindingRule<Name extends string>(rules: readonly PlanRule<Name>[]): PlanRule<Name> {
  return rules.reduce((most, rule) => (rule.shards > most.shards ? rule : most));
}

/** The limits in the order in which they break when the traffic grows. */
export function byUse<Name extends string>(limits: readonly LimitUse<Name>[]): LimitUse<Name>[] {
  return [...limits].sort((a, b) => b.used - a.used);
}
