import { join } from 'node:path';
import { type ShardedIndexConfig, shardAttributes, skewOf } from '../../../lib/core';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { accountForTests, DEPLOY_OPTIONS, fetchEmulator, MINUTES, REGION } from './account';
import { type ImporterAppProps, type OrdersAppProps, synthesizeImporterApp, synthesizeOrdersApp } from './orders-app';

/**
 * Deploys, updates and destroys a stack with the real command line and provider framework of the CDK, and moto in place of AWS:
 * `npm run conformance deploy`. The log of all steps is in node_modules/.cache/deploy.log afterwards.
 *
 * moto differs from AWS. It updates a stream immediately and without a daily limit, so this test does not test the
 * wait and the limit. It does not check permissions. It does not support the resource types that the log lists as "not
 * emulated". `emulator/` implements the order of steps, the rollback and the responses of custom resources from the
 * documents of CloudFormation. The provider framework waits one second in place of ten.
 */

/** The name of an existing stream. A deployment that creates a stream with this name fails. */
const TAKEN = 'taken';

const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('a stack, from its first deployment to its last', () => {
  const account = accountForTests({ bootstraps: false, log: 'deploy.log' });
  let deployments = 0;

  /** Deploys an app. Returns the status of its stack. */
  const deploy = (props: Omit<OrdersAppProps, 'outdir'>) =>
    deployStack('Orders', synthesizeOrdersApp({ ...props, outdir: nextAssembly() }));

  const nextAssembly = () => {
    deployments += 1;
    return lastAssembly();
  };

  const deployStack = async (name: string, assembly: string) => {
    const ended = await account.cdk('deploy', '--app', assembly, ...DEPLOY_OPTIONS);
    const { status, outputs } = await stack(name);
    if (ended.succeeded !== /^(CREATE|UPDATE)_COMPLETE$/.test(status)) throw new Error(ended.printed);
    return { status, outputs, printed: ended.printed };
  };

  const stack = (name = 'Orders') => account.stack(name);

  /** The number of open shards, and the skew of the stream. */
  const shards = async () => {
    const { outputs } = await stack();
    return shardsOf(outputs.StreamName!);
  };

  const shardsOf = async (streamName: string) => {
    const open = await openRanges(streamName);
    return { open: open.length, skew: skewOf(open) };
  };

  const openRanges = async (streamName: string) => {
    const { Shards = [] } = await account.kinesis.listShards({ StreamName: streamName });
    const open = Shards.filter((shard) => shard.SequenceNumberRange?.EndingSequenceNumber === undefined);
    return open.map(({ HashKeyRange }) => ({
      startingHashKey: BigInt(HashKeyRange!.StartingHashKey!),
      endingHashKey: BigInt(HashKeyRange!.EndingHashKey!),
    }));
  };

  const produce = async () => {
    const { outputs } = await stack();
    const records = Array.from({ length: 20 }, (_, number) => ({ partitionKey: `order-${number}`, data: `${number}` }));
    return account.invoke(outputs.ProducerName!, { records });
  };

  const ask = async (index: string, value: string) => {
    const { outputs } = await stack();
    const { items } = await account.invoke(outputs.QueryName!, { index, value });
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
      await account.documents.put({ TableName: outputs.TableName!, Item: Object.assign(order, ...added) });
    }
  };

  test(
    'cdk bootstrap succeeds',
    async () => {
      const { succeeded, printed } = await account.cdk('bootstrap', `aws://123456789012/${REGION}`);
      expect([succeeded, printed]).toEqual([true, expect.stringContaining('bootstrapped')]);
    },
    5 * MINUTES,
  );

  test(
    'the first deployment creates four shards, and the functions work',
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
    'a deployment to 32 shards that fails at its end restores the four shards',
    async () => {
      await account.kinesis.createStream({ StreamName: TAKEN, ShardCount: 1 });
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
    'a deployment updates the stream from 4 shards to 32',
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
    'a deployment adds an index, and queries return its items',
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
    'a deployment to 8 shards that fails at its end restores the 32 shards, although only one of ten daily updates remains',
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
    'cdk destroy keeps the resources with data',
    async () => {
      const { outputs } = await stack();
      const { succeeded, printed } = await account.cdk('destroy', 'Orders', '--force', '--app', lastAssembly());
      expect([succeeded, printed]).toEqual([true, expect.stringContaining('destroyed')]);
      await expect(stack()).rejects.toThrow();
      expect(await openRanges(outputs.StreamName!)).toHaveLength(32);
      expect(await account.documents.scan({ TableName: outputs.TableName! })).toMatchObject({ Count: 10 });
      expect((await account.lambda.listFunctions()).Functions!.map(({ FunctionName }) => FunctionName)).toEqual([]);
      const [, retained] = account.log.join('\n').split('Orders: DELETE_IN_PROGRESS');
      expect([...retained!.matchAll(/(AWS::\S+) \S+: retained/g)].map(([, type]) => type).sort()).toEqual([
        'AWS::DynamoDB::GlobalTable',
        'AWS::Kinesis::Stream',
      ]);
    },
    5 * MINUTES,
  );

  describe('a stack that sets the shard count of a stream of another app', () => {
    const streamArn = `arn:aws:kinesis:${REGION}:123456789012:stream/imported`;
    const deployImporter = (props: Pick<ImporterAppProps, 'shardCount' | 'takenStreamName'>) =>
      deployStack(
        'Importer',
        synthesizeImporterApp({ ...props, streamArn, deployedShardCount: 4, outdir: nextAssembly() }),
      );

    test(
      'if the first deployment of the stack fails at its end, restores the four shards',
      async () => {
        await account.kinesis.createStream({ StreamName: 'imported', ShardCount: 4 });
        await account.kinesis.createStream({ StreamName: 'taken-too', ShardCount: 1 });
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
      'rolls back although the stream was deleted',
      async () => {
        expect(await deployImporter({ shardCount: 8 })).toMatchObject({
          status: 'CREATE_COMPLETE',
          outputs: { OpenShards: '8' },
        });
        await account.kinesis.deleteStream({ StreamName: 'imported' });
        const { status, outputs } = await deployImporter({ shardCount: 16 });
        expect([status, outputs.OpenShards]).toEqual(['UPDATE_ROLLBACK_COMPLETE', 'unknown']);
      },
      5 * MINUTES,
    );
  });

  test('the emulator has skipped only resource types that it does not support', () => {
    const skipped = [...account.log.join('\n').matchAll(/(\S+) \S+: not emulated/g)].map(([, type]) => type);
    expect([...new Set(skipped)]).toEqual(['AWS::S3::BucketPolicy']);
  });

  const lastAssembly = () => join(account.folder, `deployment-${deployments}`);
});
