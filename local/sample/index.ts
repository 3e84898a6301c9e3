import type { LocalStack } from '../run-local';
import type { SampleOptions } from '../sample-options';

/** Shows what was deployed. */
export async function runSample(stack: LocalStack, { print }: SampleOptions): Promise<void> {
  for (const { path, name } of [...stack.streams, ...stack.tables, ...stack.functions]) print(`${path} is ${name}`);
}
