/** One rule of a plan, and how many shards it asks for. */
export interface PlanRule<Name extends string> {
  rule: Name;
  /** The least that satisfies this rule. */
  shards: number;
}

/** How much of a limit the planned traffic uses once there are as many shards as planned. */
export interface LimitUse<Name extends string> {
  limit: Name;
  /** 0.5 is half of it; the traffic can grow to 1 / `used` times what was planned before this limit breaks. */
  used: number;
}

/** The rule that asks for the most shards; the first of several. */
export function bindingRule<Name extends string>(rules: readonly PlanRule<Name>[]): PlanRule<Name> {
  return rules.reduce((most, rule) => (rule.shards > most.shards ? rule : most));
}

/** What breaks first comes first. */
export function byUse<Name extends string>(limits: readonly LimitUse<Name>[]): LimitUse<Name>[] {
  return [...limits].sort((a, b) => b.used - a.used);
}
