import { isObject } from '../core/kernel/checks';
import { type ResourceReference, type Scope, type Target, targetsOf } from './intrinsics';
import type { StackScope } from './stack-scope';

/** The property of a resource whose value is a part of the ARN of the resource. */
const SOURCE_OF_ARN: Readonly<Record<string, string>> = {
  'AWS::Kinesis::StreamConsumer': 'StreamARN',
  'AWS::Lambda::Alias': 'FunctionName',
  'AWS::Lambda::Version': 'FunctionName',
};

/**
 * Every resource to which a value of a template refers, through parameters, outputs, exports and stored parameters, in
 * this stack and in other stacks of the app. A reference to an alias or a version includes its function, and a reference
 * to a consumer includes its stream. Includes both branches of `Fn::If`.
 */
export function references<S extends StackScope>(value: unknown, scope: S): ResourceReference<S>[] {
  const found = new Map<string, ResourceReference<S>>();
  const visited = new Map<Scope, Set<unknown>>();
  const waiting: { readonly value: unknown; readonly scope: Scope }[] = [{ value, scope }];
  const follow = (target: Target): void => {
    if ('value' in target) waiting.push(target);
    if (!('logicalId' in target)) return;
    const reference = target as ResourceReference<S>;
    const { scope: owner, logicalId, attribute } = reference;
    found.set(`${owner.stack.id}/${logicalId}/${attribute}`, reference);
    const source = SOURCE_OF_ARN[owner.typeOf(logicalId) ?? ''];
    if (source !== undefined) waiting.push({ value: owner.declared(logicalId)[source], scope: owner });
  };
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value: part, scope: within } = next;
    const seen = visited.get(within) ?? new Set();
    if (seen.has(part)) continue;
    visited.set(within, seen.add(part));
    targetsOf(part, within).forEach(follow);
    if (isObject(part)) waiting.push(...Object.values(part).map((item) => ({ value: item, scope: within })));
  }
  return [...found.values()];
}
