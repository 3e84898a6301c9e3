import { isObject } from '../core/kernel/checks';
import { type ResourceReference, type Scope, type Target, targetsOf } from './intrinsics';
import type { PublishedValue, StackScope } from './stack-scope';

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
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const seen = visited.get(next.scope) ?? new Set();
    if (seen.has(next.value)) continue;
    visited.set(next.scope, seen.add(next.value));
    for (const target of targetsIn(next.value, next.scope)) {
      if ('value' in target) waiting.push(target);
      if (!('logicalId' in target)) continue;
      const { scope: owner, logicalId, attribute } = target as ResourceReference<S>;
      found.set(`${owner.stack.id}/${logicalId}/${attribute}`, target as ResourceReference<S>);
      const source = SOURCE_OF_ARN[owner.typeOf(logicalId) ?? ''];
      if (source !== undefined) waiting.push({ value: owner.declared(logicalId)[source], scope: owner });
    }
  }
  return [...found.values()];
}

/** The published values that a value of a template reads directly, such as the exports that it imports. */
export function usedValues(value: unknown, scope: Scope): PublishedValue[] {
  return targetsIn(value, scope).flatMap((target) => ('kind' in target ? [target as PublishedValue] : []));
}

/** The targets of all intrinsic functions in a value, at any depth. */
function targetsIn(value: unknown, scope: Scope): Target[] {
  const targets: Target[] = [];
  const waiting = [value];
  while (waiting.length > 0) {
    const part = waiting.pop();
    targets.push(...targetsOf(part, scope));
    if (isObject(part)) waiting.push(...Object.values(part));
  }
  return targets;
}
