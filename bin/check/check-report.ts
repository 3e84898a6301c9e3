import type { Finding, Step } from '../../lib/deployment-check/finding';
import { textTable } from '../text-table';
import type { Comparison } from './stack-changes';

const COMMON = 'cdk-even-shards:';

/** The action of the user in each step. */
const DO: Readonly<Record<Step, string>> = {
  revise: 'change the app',
  split: 'deploy a part before',
  prepare: 'prepare',
  know: 'know',
};

/** The findings as a table, in the order of the steps to take, with an explanation of each step. */
export function checkReport(findings: readonly Finding[], { changes, notCompared, pathOf }: Comparison): string[] {
  const compared = changes.filter(({ deployed }) => deployed !== undefined).length;
  const isNew = changes.filter(({ deployed }) => deployed === undefined).map(({ stack }) => stack);
  const stacks = `${compared} of ${changes.length} ${changes.length === 1 ? 'stack is' : 'stacks are'} deployed`;
  const otherParts = [
    ...(isNew.length === 0 ? [] : [`new: ${isNew.join(', ')}`]),
    ...notCompared.map((part) => `not compared: ${part}`),
  ];
  if (findings.length === 0) return [`nothing to look out for; ${stacks}`, ...otherParts];
  const places = findings.map(({ stack, logicalId }) => pathOf(stack, logicalId));
  return [
    `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}, in the order of the steps to take; ${stacks}`,
    ...otherParts,
    '',
    ...textTable(
      ['step', 'do', 'effect', 'where', 'warning'],
      findings.map(({ step, effect, id }, index) => [
        index + 1,
        DO[step],
        effect,
        places[index]!,
        id.replace(COMMON, ''),
      ]),
    ),
    ...findings.flatMap(({ text, logicalId }, index) => {
      const place = places[index]!;
      return ['', `${index + 1}. ${place.endsWith(`/${logicalId}`) ? place : `${place} (${logicalId})`}: ${text}`];
    }),
  ];
}

/** The findings as JSON, for a program. */
export function checkJson(findings: readonly Finding[], { changes, notCompared, pathOf }: Comparison): object {
  const stacksWith = (isDeployed: boolean) =>
    changes.filter(({ deployed }) => (deployed !== undefined) === isDeployed).map(({ stack }) => stack);
  return {
    deployed: stacksWith(true),
    new: stacksWith(false),
    notCompared,
    findings: findings.map(({ id, stack, logicalId, effect, step, text }) => ({
      step,
      effect,
      path: pathOf(stack, logicalId),
      stack,
      logicalId,
      id,
      text,
    })),
  };
}
