/**
 * The effect of a deployment:
 *
 * - `refused`: AWS or CloudFormation rejects the deployment
 * - `deleted`, `replaced`: CloudFormation deletes or replaces a resource
 * - `left`: a resource stays in the account, but no stack contains it
 * - `lost`: data is lost
 * - `missed`: readers miss existing items or rows
 * - `reordered`: the records of a key lose their order
 * - `failing`: requests fail
 * - `uneven`: the load of the shards is uneven
 * - `exposed`: data is stored without encryption
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
 * The step to take:
 *
 * - `revise`: change the app, because this deployment fails or does harm
 * - `split`: deploy a part of the change first
 * - `prepare`: do something else before the deployment
 * - `know`: no step is necessary if you want the effect
 */
export type Step = 'revise' | 'split' | 'prepare' | 'know';

/** The order of findings, by their steps. */
const STEPS: readonly Step[] = ['revise', 'split', 'prepare', 'know'];

/**
 * The severity of a finding:
 *
 * - `harm`: the deployment succeeds and does harm
 * - `refused`: AWS or CloudFormation rejects the deployment
 * - `notice`: no step is necessary, or only the load is uneven
 */
type Severity = 'harm' | 'refused' | 'notice';

/** The severities, the worst first. A rejected deployment is rolled back, so harm is worse. */
const SEVERITIES: readonly Severity[] = ['harm', 'refused', 'notice'];

const NOTICES: readonly Effect[] = ['left', 'uneven'];

/** One harmful effect of a deployment on a resource. */
export interface Finding {
  /** The id with which a user acknowledges the warning, such as `cdk-even-shards:Deployment.renamed`. */
  readonly id: string;
  readonly stack: string;
  /** The logical id of the resource in the new template, or in the deployed template if the resource is removed. */
  readonly logicalId: string;
  readonly effect: Effect;
  readonly step: Step;
  /** The effect, and what to do instead. */
  readonly text: string;
}

/** The stack and the resource of a finding. */
export type Location = Pick<Finding, 'stack' | 'logicalId'>;

export function finding({ stack, logicalId }: Location, id: string, effect: Effect, step: Step, text: string): Finding {
  return { id: `cdk-even-shards:${id}`, stack, logicalId, effect, step, text };
}

/** Sorts findings by the step to take. Findings with the same step keep their order. */
export function inOrderOfSteps(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((one, other) => STEPS.indexOf(one.step) - STEPS.indexOf(other.step));
}

/** The worst severity of the findings. Undefined without findings. */
export function worstSeverity(findings: readonly Finding[]): Severity | undefined {
  const found = new Set(findings.map(severityOf));
  return SEVERITIES.find((severity) => found.has(severity));
}

function severityOf({ effect, step }: Finding): Severity {
  if (effect === 'refused') return 'refused';
  return step === 'know' || NOTICES.includes(effect) ? 'notice' : 'harm';
}
