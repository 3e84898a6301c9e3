import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { Lambda } from '@aws-sdk/client-lambda';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { type ShardedIndexConfig, shardAttributes, skewOf } from '../../../lib/core';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { Account, CREDENTIALS, fetchEmulator, REGION } from './account';
import { type ImporterAppProps, type OrdersAppProps, synthesizeImporterApp, synthesizeOrdersApp } from './orders-app';

/**
 * The life of a stack: the real command line of the CDK, the templates and bundles that it deploys, the provider framework of
 * the CDK, and moto in place of AWS: `npm run conformance deploy`. The log of all steps is in
 * node_modules/.cache/deploy.log afterwards.
 *
 * moto is no AWS. It takes an update of a stream as done at once and as often as one likes, so neither the waiting nor the
 * limit of ten a day is tried here; it enforces no permission; it does not know the types of resources that the log calls
 * "not emulated"; and the order of steps, the roll-back, and the answers of custom resources are those of `emulator/`, written
 * from CloudFormation's documents. Each wait of ten seconds of the provider framework is one of a second.
 */

const LOG = resolve('node_modules/.cache/deploy.log');
const MINUTES = 60_000;

/** A stream that somebody else has made, so that no deployment can. */
const TAKEN = 'taken';

const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('a stack, from its first deployment to its last', () => {
  let account: Account;
  let folder: string;
  let deployments = 0;
  let kinesis: Kinesis;
  let documents: DynamoDBDocument;
  let lambda: Lambda;
  let cloudFormation: CloudFormation;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'even-shards-deploy-'));
    account = await Account.open();
    const options = { region: REGION, credentials: CREDENTIALS, endpoint: account.endpoint };
    kinesis = new Kinesis({ ...options, requestHandler: new NodeHttpHandler() });
    documents = DynamoDBDocument.from(new DynamoDB(options));
    lambda = new Lambda(options);
    cloudFormation = new CloudFormation(options);
  }, MINUTES);

  afterAll(async () => {
    for (const client of [kinesis, documents, lambda, cloudFormation]) client?.destroy();
    await account?.close();
    if (account !== undefined) writeFileSync(LOG, `${account.log.join('\n')}\n`);
    rmSync(folder, { recursive: true });
  }, MINUTES);

  /** Deploys an app; answers how its stack ended. */
  const deploy = (props: Omit<OrdersAppProps, 'outdir'>) =>
    deployStack('Orders', synthesizeOrdersApp({ ...props, outdir: nextAssembly() }));

  const nextAssembly = () => {
    deployments += 1;
    return lastAssembly();
  };

  const deployStack = async (name: string, assembly: string) => {
    const ended = await account.cdk(
      'deploy',
      '--app',
      assembly,
      '--require-approval',
      'never',
      '--method',
      'change-set',
    );
    const { status, outputs } = await stack(name);
    if (ended.succeeded !== /^(CREATE|UPDATE)_COMPLETE$/.test(status!)) throw new Error(ended.printed);
    return { status, outputs, printed: ended.printed };
  };

  const stack = async (name = 'Orders') => {
    const { Stacks = [] } = await cloudFormation.describeStacks({ StackName: name });
    const { StackStatus, Outputs = [] } = Stacks[0]!;
    const outputs = Object.fromEntries(Outputs.map(({ OutputKey, OutputValue }) => [OutputKey!, OutputValue!]));
    return { status: StackStatus, outputs };
  };

  /** How many shards are open, and how many times the mean the widest holds. */
  const shards = async () => {
    const { outputs } = await stack();
    return shardsOf(outputs.StreamName!);
  };

  const shardsOf = async (streamName: string) => {
    const open = await openRanges(streamName);
    return { open: open.length, skew: skewOf(open) };
  };

  const openRanges = async (streamName: string) => {
    const { Shards = [] } = await kinesis.listShards({ StreamName: streamName });
    const open = Shards.filter((shard) => shard.SequenceNumberRange?.EndingSequenceNumber === undefined);
    return open.map(({ HashKeyRange }) => ({
      startingHashKey: BigInt(HashKeyRange!.StartingHashKey!),
      endingHashKey: BigInt(HashKeyRange!.EndingHashKey!),
    }));
  };

  const invoke = async (name: string, event: object) => {
    const { Payload, FunctionError } = await lambda.invoke({ FunctionName: name, Payload: JSON.stringify(event) });
    const answer = JSON.parse(Payload!.transformToString());
    if (FunctionError !== undefined) throw new Error(JSON.stringify(answer));
    return answer;
  };

  const produce = async () => {
    const { outputs } = await stack();
    const records = Array.from({ length: 20 }, (_, number) => ({ partitionKey: `order-${number}`, data: `${number}` }));
    return invoke(outputs.ProducerName!, { records });
  };

  const ask = async (index: string, value: string) => {
    const { outputs } = await stack();
    const { items } = await invoke(outputs.QueryName!, { index, value });
    return items.map(({ orderId }: { orderId: string }) => orderId);
  };

  /** Ten orders of two statuses and of one customer, for all indexes that the stack has. */
  const writeOrders = async () => {
    const { outputs } = await stack();
    const indexes = JSON.parse(outputs.Indexes!) as ShardedIndexConfig[];
    for (let number = 0; number < 10; number++) {
      const status = number % 2 === 0 ? 'sent' : 'paid';
      const order = { orderId: `o-${number}`, status, customer: 'c-1', createdAt: `2026-01-01T00:00:0${number}Z` };
      const added = indexes.map((index) => shardAttributes(index, order));
      await documents.put({ TableName: outputs.TableName!, Item: Object.assign(order, ...added) });
    }
  };

  test(
    'the account is bootstrapped',
    async () => {
      const { succeeded, printed } = await account.cdk('bootstrap', `aws://123456789012/${REGION}`);
      expect([succeeded, printed]).toEqual([true, expect.stringContaining('bootstrapped')]);
    },
    5 * MINUTES,
  );

  test(
    'it is created with four shards, and its functions work',
    async () => {
      const { status, outputs } = await deploy({ shardCount: 4 });
      expect(status).toBe('CREATE_COMPLETE');
      expect(Object.keys(outputs)).toEqual(
        expect.arrayContaining(['StreamName', 'TableName', 'ProducerName', 'QueryName', 'Indexes']),
      );
      expect(await shards()).toEqual({ open: 4, skew: 1 });
      expect(await produce()).toMatchObject({ failedRecordCount: 0 });
      await writeOrders();
      expect(await ask('by-status', 'sent')).toEqual(['o-0', 'o-2', 'o-4', 'o-6', 'o-8']);
    },
    5 * MINUTES,
  );

  test(
    'a deployment to 32 shards that fails at its end leaves it the four that it had',
    async () => {
      await kinesis.createStream({ StreamName: TAKEN, ShardCount: 1 });
      const { status, printed } = await deploy({ shardCount: 32, deployedShardCount: 4, takenStreamName: TAKEN });
      expect([status, printed]).toEqual([
        'UPDATE_ROLLBACK_COMPLETE',
        expect.stringContaining('UPDATE_ROLLBACK_COMPLETE'),
      ]);
      expect(account.log.join('\n')).toMatch(/EventsResharding\w*: created\n(.*\n)*.*Taken FAILED/);
      expect(await shards()).toEqual({ open: 4, skew: expect.closeTo(1) });
    },
    10 * MINUTES,
  );

  test(
    'a deployment takes it from 4 shards to 32',
    async () => {
      const { status, outputs } = await deploy({ shardCount: 32, deployedShardCount: 4 });
      expect(status).toBe('UPDATE_COMPLETE');
      expect(outputs.OpenShards).toBe('32');
      expect(await shards()).toEqual({ open: 32, skew: expect.closeTo(1) });
      expect(await produce()).toMatchObject({ failedRecordCount: 0 });
    },
    10 * MINUTES,
  );

  test(
    'an index is added, and answers for items that are written for it',
    async () => {
      const { status } = await deploy({ shardCount: 32, deployedShardCount: 4, byCustomer: true });
      expect(status).toBe('UPDATE_COMPLETE');
      expect(await ask('by-customer', 'c-1')).toEqual([]);
      await writeOrders();
      expect(await ask('by-customer', 'c-1')).toHaveLength(10);
      expect(await ask('by-status', 'paid')).toEqual(['o-1', 'o-3', 'o-5', 'o-7', 'o-9']);
    },
    10 * MINUTES,
  );

  test(
    'a deployment to 8 shards that fails at its end leaves it the 32 that it had, with one update of ten left',
    async () => {
      const { status } = await deploy({
        shardCount: 8,
        deployedShardCount: 4,
        byCustomer: true,
        takenStreamName: TAKEN,
      });
      expect(status).toBe('UPDATE_ROLLBACK_COMPLETE');
      expect(await shards()).toEqual({ open: 32, skew: expect.closeTo(1) });
      expect(await ask('by-customer', 'c-1')).toHaveLength(10);
      expect(await produce()).toMatchObject({ failedRecordCount: 0 });
    },
    10 * MINUTES,
  );

  test(
    'it is destroyed, and what holds data stays',
    async () => {
      const { outputs } = await stack();
      const { succeeded, printed } = await account.cdk('destroy', 'Orders', '--force', '--app', lastAssembly());
      expect([succeeded, printed]).toEqual([true, expect.stringContaining('destroyed')]);
      await expect(stack()).rejects.toThrow();
      expect(await openRanges(outputs.StreamName!)).toHaveLength(32);
      expect(await documents.scan({ TableName: outputs.TableName! })).toMatchObject({ Count: 10 });
      expect((await lambda.listFunctions()).Functions!.map(({ FunctionName }) => FunctionName)).toEqual([]);
      const [, retained] = account.log.join('\n').split('Orders: DELETE_IN_PROGRESS');
      expect([...retained!.matchAll(/(AWS::\S+) \S+: retained/g)].map(([, type]) => type).sort()).toEqual([
        'AWS::DynamoDB::GlobalTable',
        'AWS::Kinesis::Stream',
      ]);
    },
    5 * MINUTES,
  );

  describe('a stack that takes a stream of another app to its shards', () => {
    const streamArn = `arn:aws:kinesis:${REGION}:123456789012:stream/imported`;
    const deployImporter = (props: Pick<ImporterAppProps, 'shardCount' | 'takenStreamName'>) =>
      deployStack(
        'Importer',
        synthesizeImporterApp({ ...props, streamArn, deployedShardCount: 4, outdir: nextAssembly() }),
      );

    test(
      'leaves it the four that it had, if the first deployment fails at its end',
      async () => {
        await kinesis.createStream({ StreamName: 'imported', ShardCount: 4 });
        await kinesis.createStream({ StreamName: 'taken-too', ShardCount: 1 });
        const { status } = await deployImporter({ shardCount: 8, takenStreamName: 'taken-too' });
        expect(status).toBe('ROLLBACK_COMPLETE');
        expect(account.log.join('\n')).toMatch(
          /EvenShardsStreamShardCount Resharding\w*: created\n(.*\n)*.*Taken FAILED/,
        );
        expect(await shardsOf('imported')).toEqual({ open: 4, skew: expect.closeTo(1) });
      },
      5 * MINUTES,
    );

    test(
      'is rolled back, though the stream has gone',
      async () => {
        expect(await deployImporter({ shardCount: 8 })).toMatchObject({
          status: 'CREATE_COMPLETE',
          outputs: { OpenShards: '8' },
        });
        await kinesis.deleteStream({ StreamName: 'imported' });
        const { status, outputs } = await deployImporter({ shardCount: 16 });
        expect([status, outputs.OpenShards]).toEqual(['UPDATE_ROLLBACK_COMPLETE', 'unknown']);
      },
      5 * MINUTES,
    );
  });

  test('the emulator has skipped what it does not know, and nothing else', () => {
    const skipped = [...account.log.join('\n').matchAll(/(\S+) \S+: not emulated/g)].map(([, type]) => type);
    expect([...new Set(skipped)]).toEqual(['AWS::S3::BucketPolicy']);
  });

  const lastAssembly = () => join(folder, `deployment-${deployments}`);
});
