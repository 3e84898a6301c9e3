/**
 * What a deployment would do. `refused`: AWS or CloudFormation fails it. `deleted`, `replaced`, `left`: a resource goes, is made
 * anew, or stays in the account without a stack. `lost`: data goes. `missed`: readers overlook what is there. `reordered`: the
 * records of a key lose their order. `failing`: callers fail. `uneven`: shards are loaded unevenly. `exposed`: data is stored
 * without encryption.
 */
export type Effect =
  | 'refused'
  | 'deleted'
  | 'replaced'
  | 'left'
  | 'lost'
  | 'missed'
  | 'reordered'
  | 'failing'
  | 'uneven'
  | 'exposed';

/**
 * What there is to do. `revise`: change the app, for this deployment cannot be made as it is. `split`: deploy a part of it before.
 * `prepare`: do something else before. `know`: nothing, if the effect is what you want.
 */
export type Step = 'revise' | 'split' | 'prepare' | 'know';

/** In the order in which there is something to do. */
const STEPS: readonly Step[] = ['revise', 'split', 'prepare', 'know'];

/** One thing that a deployment would do to a resource. */
export interface Finding {
  /** What an acknowledgement names, such as `cdk-even-shards:Deployment.renamed`. */
  readonly id: string;
  readonly stack: string;
  /** The resource: its logical id in the template that comes; of one that goes, in the deployed one. */
  readonly logicalId: string;
  readonly effect: Effect;
  readonly step: Step;
  /** What happens, and what to do instead. */
  readonly text: string;
}

/** Where a finding is. */
export type Location = Pick<Finding, 'stack' | 'logicalId'>;

export function finding({ stack, logicalId }: Location, id: string, effect: Effect, step: Step, text: string): Finding {
  return { id: `cdk-even-shards:${id}`, stack, logicalId, effect, step, text };
}

/** The findings in the order of the steps to take; of one step, in the order in which they were found. */
export function inOrderOfSteps(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((one, other) => STEPS.indexOf(one.step) - STEPS.indexOf(other.step));
}
