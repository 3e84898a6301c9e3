import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import type { KinesisStreamEvent } from 'aws-lambda';
import { handler as consumer } from '../../../examples/stream-consumer/handler';
import type { SavedState } from '../../../examples/stream-consumer/key-state';
import { StreamConsumer } from '../../../examples/stream-consumer/stream-consumer';
import { UniformStream } from '../../../lib';
import { AggregateBuilder } from '../../../lib/core/producer/aggregate-builder';

/** The table, for how the handler treats it; test/integration has a real one. */
const mockTable = new Map<string, SavedState>();
const mockRefused = new Set<string>();
jest.mock('../../../examples/stream-consumer/key-state', () => ({
  loadState: async (partitionKey: string) =>
    mockTable.get(partitionKey) ?? { partitionKey, state: { count: 0 }, history: [], version: 0 },
  saveState: async (saved: SavedState) => {
    if (mockRefused.has(saved.partitionKey)) throw new Error('ConditionalCheckFailedException');
    mockTable.set(saved.partitionKey, saved);
  },
}));

/** An aggregate like `a3 a4`: the third and the fourth record of key a; `a!4` cannot be applied. */
function aggregate(names: string): Buffer {
  const builder = new AggregateBuilder({ maxBytes: 2 ** 20 });
  for (const name of names.split(' ')) {
    const data = Buffer.from(name.includes('!') ? 'no JSON' : JSON.stringify(name));
    const sequence = { producerId: 'p', sequenceNumber: BigInt(name.replace(/\D/g, '')) };
    builder.tryAdd({ partitionKey: name[0]!, data, sequence });
  }
  return Buffer.from(builder.build().data);
}

/** An event of Lambda with these records; their sequence numbers are their positions. */
function event(...records: (string | Buffer)[]): KinesisStreamEvent {
  return {
    Records: records.map((each, position) => ({
      eventSource: 'aws:kinesis',
      kinesis: {
        partitionKey: typeof each === 'string' ? each[0] : 'a',
        data: (typeof each === 'string' ? aggregate(each) : each).toString('base64'),
        sequenceNumber: String(position),
      },
    })),
  } as unknown as KinesisStreamEvent;
}

const handler = (batch: KinesisStreamEvent) => consumer(batch, { getRemainingTimeInMillis: () => 60_000 });
const states = () => Object.fromEntries([...mockTable].map(([key, { state }]) => [key, state]));
const reported = (...positions: number[]) => ({
  batchItemFailures: positions.map((position) => ({ itemIdentifier: String(position) })),
});

describe('the example of a consumer', () => {
  let logged: jest.SpyInstance;
  beforeEach(() => {
    mockTable.clear();
    mockRefused.clear();
    logged = jest.spyOn(console, 'error').mockImplementation();
  });
  afterEach(() => logged.mockRestore());

  test('applies each record once, in the order of its key', async () => {
    expect(await handler(event('a1 a2', 'b1', 'a1 a2', 'a3', 'a1 a2'))).toEqual(reported());
    expect(states()).toEqual({ a: { count: 3, last: 'a3' }, b: { count: 1, last: 'b1' } });
  });

  test('knows what an earlier invocation applied', async () => {
    await handler(event('a1 a2'));
    expect(await handler(event('a1 a2', 'a3'))).toEqual(reported());
    expect(states()).toEqual({ a: { count: 3, last: 'a3' } });
  });

  test('reports the record of the stream that a failure is in, and applies what is before it, and other keys', async () => {
    expect(await handler(event('b1', 'a1 a2 a!3 a4', 'b2', 'a5'))).toEqual(reported(1));
    expect(states()).toEqual({ a: { count: 2, last: 'a2' }, b: { count: 2, last: 'b2' } });
  });

  test('applies the rest when Lambda goes on there, and nothing twice', async () => {
    await handler(event('b1', 'a1 a2 a!3 a4', 'b2', 'a5'));
    expect(await handler(event('a1 a2 a3 a4', 'b2', 'a5'))).toEqual(reported());
    expect(states()).toEqual({ a: { count: 5, last: 'a5' }, b: { count: 2, last: 'b2' } });
  });

  test('applies what Lambda has set aside when it comes again, behind later records, and nothing twice', async () => {
    await handler(event('a1', 'a2 a!3 a4', 'b1'));
    await handler(event('a5', 'b2'));
    expect(states()).toEqual({ a: { count: 3, last: 'a5' }, b: { count: 2, last: 'b2' } });
    expect(await handler(event('a2 a3 a4', 'b1'))).toEqual(reported());
    expect(await handler(event('a2 a3 a4', 'b1'))).toEqual(reported());
    expect(states()).toEqual({ a: { count: 5, last: 'a4' }, b: { count: 2, last: 'b2' } });
  });

  test('reports the first record of a key that was not saved', async () => {
    mockRefused.add('b');
    expect(await handler(event('a1', 'b1', 'a2', 'b2'))).toEqual(reported(1));
    expect(states()).toEqual({ a: { count: 2, last: 'a2' } });
  });

  test('reports a damaged record, and holds up its key, no other', async () => {
    expect(await handler(event('a1', aggregate('a2 a3').fill(0, 20), 'b1', 'a4'))).toEqual(reported(1));
    expect(states()).toEqual({ a: { count: 1, last: 'a1' }, b: { count: 1, last: 'b1' } });
  });

  test('is deployed with tables of which it may read and write items, and a place for what keeps failing', () => {
    // Its code is bundled in test/integration.
    const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Example');
    const { table, moves } = new StreamConsumer(stack, 'Consumer', {
      stream: new UniformStream(stack, 'Events', { shardCount: 1 }),
    });

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BisectBatchOnFunctionError: true,
      DestinationConfig: { OnFailure: Match.anyValue() },
    });
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          {
            Effect: 'Allow',
            Action: ['dynamodb:GetItem', 'dynamodb:PutItem'],
            Resource: stack.resolve(table.tableArn),
          },
          { Effect: 'Allow', Action: 'dynamodb:UpdateItem', Resource: stack.resolve(moves.tableArn) },
        ]),
      },
    });
  });
});
