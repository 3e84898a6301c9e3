import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OrderedProducer } from '../../../lib/core/producer';
import * as testing from '../../../lib/testing';

const guide = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'guides', 'testing.md'), 'utf8');
const examples = [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example]) => example!);

/** Returns the output of an example, and the output that its comments show. */
async function run(example: string): Promise<{ printed: unknown[][]; shown: string[] }> {
  const body = example
    .replace(/^import .*\n/gm, '')
    .replaceAll(': number)', ')')
    .replaceAll('(error as Error)', 'error');
  const printed: unknown[][] = [];
  const names = { OrderedProducer, ...testing, console: { log: (...values: unknown[]) => printed.push(values) } };
  await new Function(...Object.keys(names), `return (async () => {${body}})()`)(...Object.values(names));
  return { printed, shown: [...example.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text!) };
}

describe('the guide to testing', () => {
  test.each([
    ['a stream that fails', 0, [[2, ['created', 'created', 'renamed']]], "2 [ 'created', 'created', 'renamed' ]"],
    [
      'a hot partition',
      1,
      [[1_000, 'ProvisionedThroughputExceededException']],
      '1000 ProvisionedThroughputExceededException',
    ],
    ['an alarm whose metrics are late', 2, [['OK', 'ALARM']], 'OK ALARM'],
  ])('has an example of %s with its real output', async (_name, index, printed, shown) => {
    expect(await run(examples[index]!)).toEqual({ printed, shown: [shown] });
  });

  test('has only the three examples that this test runs', () => expect(examples).toHaveLength(3));

  test('names every simulated service', () => {
    for (const name of Object.keys(testing)) expect(guide).toContain(`\`${name}\``);
  });
});
