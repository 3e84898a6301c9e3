import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { EvenShardsStack } from '../../../bin/app';
import cdkJson from '../../../cdk.json';
import { InvalidArgumentError, InvalidShardCountError } from '../../../lib/core/kernel/errors';
import { readableTemplate } from '../../support/readable-template';

describe('the reference app', () => {
  function synthesize(context: Record<string, unknown> = {}): Template {
    const app = new App({ context: { ...cdkJson.context, ...context } });
    return Template.fromStack(new EvenShardsStack(app, 'EvenShards'));
  }

  /** The index configurations that the query function reads. */
  function indexes(template: Template): Record<string, { shards: unknown }> {
    const queries = template.findResources('AWS::Lambda::Function', {
      Properties: { Environment: { Variables: { EVEN_SHARDS_INDEXES: Match.anyValue() } } },
    });
    const [separator, parts] =
      Object.values(queries)[0]!.Properties.Environment.Variables.EVEN_SHARDS_INDEXES['Fn::Join'];
    return JSON.parse(parts.map((part: unknown) => (typeof part === 'string' ? part : 'jobs')).join(separator));
  }

  test('synthesizes the same template as the snapshot', () => {
    expect(readableTemplate(synthesize())).toMatchSnapshot();
  });

  test('gives each status as many shards as its percentage of the jobs', () => {
    const { byStatus, byTime } = indexes(synthesize());

    const shards = (count: number) => ({ write: count, read: count });
    expect(byStatus!.shards).toEqual({
      default: shards(1),
      byValue: {
        succeeded: shards(35),
        ignored: shards(35),
        pending: shards(10),
        in_progress: shards(10),
        failed: shards(10),
      },
    });
    expect(byTime!.shards).toEqual({ default: shards(5) });
  });

  test('can be synthesized without an account or a Region', () => {
    expect(new EvenShardsStack(new App(), 'EvenShards').environment).toBe('aws://unknown-account/unknown-region');
  });

  test.each([
    ['as texts of the command line', '8', '10', '{"succeeded":70,"failed":20}'],
    ['as JSON of cdk.json', 8, 10, { succeeded: 70, failed: 20 }],
  ])('reads its shard counts from the context, %s', (_, eventsShardCount, byTimeShardCount, byStatusShardCounts) => {
    const template = synthesize({ eventsShardCount, byTimeShardCount, byStatusShardCounts });

    template.hasResourceProperties('AWS::Kinesis::Stream', { ShardCount: 8 });
    expect(indexes(template)).toMatchObject({
      byStatus: { shards: { byValue: { succeeded: { write: 70, read: 70 }, failed: { write: 20, read: 20 } } } },
      byTime: { shards: { default: { write: 10, read: 10 } } },
    });
  });

  test.each([
    ['eventsShardCount', '0', 'EvenShards/Events: shardCount must be a whole number from 1 to 10000, got 0'],
    [
      'byTimeShardCount',
      '10001',
      'shardCounts must be a whole number from 1 to 10000 (a query reads every shard for each page), got 10001',
    ],
    [
      'byStatusShardCounts',
      '{"failed":-1}',
      'shardCounts.byValue["failed"] must be a whole number from 1 to 10000, got -1',
    ],
  ])('rejects the context %s=%s', (key, value, message) => {
    expect(() => synthesize({ [key]: value })).toThrow(InvalidShardCountError);
    expect(() => synthesize({ [key]: value })).toThrow(message);
  });

  test.each([
    ['eventsShardCount', 'many', 'context eventsShardCount must be JSON such as 4, got "many"'],
    ['byStatusShardCounts', '7', 'shardCounts.byValue must be an object from value to shard count, got 7'],
  ])('rejects the malformed context %s=%s', (key, value, message) => {
    expect(() => synthesize({ [key]: value })).toThrow(InvalidArgumentError);
    expect(() => synthesize({ [key]: value })).toThrow(message);
  });
});
