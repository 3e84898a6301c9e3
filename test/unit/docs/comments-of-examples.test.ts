import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { uniformRanges } from '../../../lib/core';
import * as planning from '../../../lib/core/planning';
import { describeOperation, inspectStream } from '../../../lib/core/resharding';
import { planIndexReshard, shardAttributes } from '../../../lib/core/sharded-index';
import { FakeControlPlane, VirtualClock } from '../../../lib/testing';
import { indexConfig } from '../../support/index-config';

/** Runs examples of the guides, and compares the comments in the examples with the real output. */

function exampleOf(path: string, text: string): string {
  const examples = [...readFileSync(path, 'utf8').matchAll(/^```m?ts\n(.*?)^```$/gms)].map(([, example]) => example!);
  return examples.find((example) => example.includes(text))!;
}

/** Runs an example without its imports, and returns what it prints. */
async function printed(example: string, names: Record<string, unknown>): Promise<string[]> {
  const lines: string[] = [];
  const log = (...values: unknown[]) => {
    lines.push(
      values.map((value) => (typeof value === 'string' ? value : inspect(value, { breakLength: Infinity }))).join(' '),
    );
  };
  const body = example.replaceAll(/^import .*\n/gm, '');
  const all = { ...names, console: { log } };
  await new Function(...Object.keys(all), `return (async () => {${body}})()`)(...Object.values(all));
  return lines;
}

const commentsOf = (example: string) => [...example.matchAll(/^\/\/ (.*)$/gm)].map(([, comment]) => comment!);

test('the guide to planning shows the results of the planner', async () => {
  const example = exampleOf('docs/guides/planning.md', 'suffixRange({');
  const calls = [...example.matchAll(/^(\w.*\)(?:\.\w+)?); \/\/ ([\d.]+)$/gm)];
  expect(calls).toHaveLength(4);
  const statements = calls.map(([, call]) => `console.log(Number((${call}).toFixed(3)));`).join('\n');
  expect(await printed(statements, { ...planning })).toEqual(calls.map(([, , answer]) => answer));
  const [, shown] = /console\.log\(.*\); \/\/ (.*)$/m.exec(example)!;
  expect([shown!.replaceAll("'", '')]).toEqual(
    (await printed(example, { ...planning })).map((line) => line.replaceAll("'", '')),
  );
});

test('the guide to the shards of an index shows the steps that planIndexReshard returns', async () => {
  const example = exampleOf('docs/guides/index-resharding.md', 'planIndexReshard(deployed');
  expect(await printed(example, { planIndexReshard })).toEqual(commentsOf(example));
});

test('the guide to resharding shows the real output of a dry run', async () => {
  const example = exampleOf('docs/guides/resharding.md', 'inspectStream(new Kinesis');
  const clock = new VirtualClock();
  const stream = new FakeControlPlane({ clock, ranges: uniformRanges(4) });
  const names = { inspectStream, describeOperation, stream };
  const lines = printed(example.replace('new Kinesis({})', 'stream'), names);
  expect(await clock.runUntil(lines)).toEqual(commentsOf(example));
});

test.each(['README.md', 'docs/guides/sharded-tables.md'])('%s shows the shard of the order', (path) => {
  const text = readFileSync(path, 'utf8');
  const config = indexConfig({
    tableName: 'Table',
    tableKey: ['orderId'],
    shardAttribute: 'byStatusShard',
    shards: {
      default: { write: 1, read: 1 },
      byValue: { shipped: { write: 20, read: 20 }, pending: { write: 5, read: 5 } },
    },
  });
  const order = { orderId: 'o-1', status: 'pending', createdAt: new Date().toISOString() };
  expect(text).toContain("{ orderId: 'o-1', status: 'pending', createdAt: new Date().toISOString() }");
  const { byStatusShard } = shardAttributes(config, order);
  expect(text).toContain(`{ byStatusShard: ${byStatusShard} }`);
});
