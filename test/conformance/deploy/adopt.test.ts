import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Shard } from '@aws-sdk/client-kinesis';
import type { Stack } from 'aws-cdk-lib';
import { check } from '../../../bin/check';
import {
  fanOutItems,
  findStrays,
  plainItem,
  type ShardedIndexConfig,
  shardAttributes,
  skewOf,
} from '../../../lib/core';
import { printed } from '../../support/command';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { TableStream } from '../../support/table-stream';
import { accountForTests, fetchEmulator, MINUTES, REGION } from './account';
import {
  adoptedStream,
  importedStream,
  importingApp,
  keptTable,
  ownedTable,
  type SameAppStep,
  sameApp,
  synthesized,
} from './adopted-stacks';
import { type ReadOrders, RunningEvents, RunningMapping, RunningOrders, STATUSES } from './running-clients';

/**
 * Follows each case of docs/guides/adopt.md. The real CDK CLI deploys to moto: `npm run conformance deploy adopt`.
 * Each step is deployed, undone and deployed again, while a writer and a reader run. A write that fails, a lost item, and an
 * item that a query misses fail the test.
 */

const GUIDE = readFileSync('docs/guides/adopt.md', 'utf8');

describeWhere(fetchEmulator(), PYTHON_NEEDED)('the adoption of a deployed stack', () => {
  const account = accountForTests({ log: 'adopt.log' });
  let assemblies = 0;

  beforeAll(() => {
    jest.spyOn(console, 'error').mockImplementation(() => {});
  });
  afterEach(() => {
    process.exitCode = undefined;
  });

  const assemblyOf = (name: string, build: (stack: Stack) => void) =>
    synthesized(join(account.folder, String(assemblies++)), name, build);

  const deploy = (name: string, build: (stack: Stack) => void) => account.deploy(name, assemblyOf(name, build));
  const destroy = (name: string, build: (stack: Stack) => void) =>
    account.succeed('destroy', name, '--force', '--app', assemblyOf(name, build));

  /** Deploys a step, undoes it, and deploys it again. Runs `whileUndone` between the second and the third deployment. */
  async function deployTwice(
    name: string,
    [before, next]: readonly [(stack: Stack) => void, (stack: Stack) => void],
    whileUndone: () => Promise<unknown>,
  ): Promise<Record<string, string>> {
    await deploy(name, next);
    await deploy(name, before);
    await whileUndone();
    return deploy(name, next);
  }

  /** The resources that `cdk diff` shows, as in the guide. */
  async function diff(name: string, build: (stack: Stack) => void): Promise<string> {
    const options = ['--method', 'template', '--app', assemblyOf(name, build)];
    const { printed: output } = await account.cdk('diff', name, ...options);
    const [, resources = output] = /^Resources\n([\s\S]*?)\n(?:\n|$)/m.exec(output) ?? [];
    return resources.trimEnd();
  }

  /** The output of `cdk diff` in the guide, without the indentation of a list. */
  function inGuide(block: string): string | undefined {
    const [, indentation, output] =
      new RegExp(`<!-- diff: ${block} -->\\n\\n( *)\`\`\`text\\n([\\s\\S]*?)\\n *\`\`\``).exec(GUIDE) ?? [];
    return output?.replaceAll(new RegExp(`^${indentation}`, 'gm'), '');
  }

  async function callStepFunctions(operation: string, input: object): Promise<Record<string, string>> {
    const response = await fetch(account.endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `AWSStepFunctions.${operation}`,
        authorization: `AWS4-HMAC-SHA256 Credential=local/20260101/${REGION}/states/aws4_request, SignedHeaders=host, Signature=0`,
      },
      body: JSON.stringify(input),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Record<string, string>;
  }

  /** Executes the state machine of a mover, and returns the sum of a count over its segments. */
  async function execute(stateMachineArn: string, input: object, count: string): Promise<number> {
    const started = await callStepFunctions('StartExecution', { stateMachineArn, input: JSON.stringify(input) });
    for (;;) {
      const { status, output, cause } = await callStepFunctions('DescribeExecution', {
        executionArn: started.executionArn,
      });
      if (status === 'SUCCEEDED') {
        return JSON.parse(output!).reduce((sum: number, segment: Record<string, number>) => sum + segment[count]!, 0);
      }
      if (status !== 'RUNNING') throw new Error(`${status}: ${cause}`);
      await sleep(200);
    }
  }

  const readPlainIndex =
    (TableName: string): ReadOrders =>
    async (status) => {
      const ids: string[] = [];
      for (let ExclusiveStartKey: Record<string, unknown> | undefined; ; ) {
        const { Items = [], LastEvaluatedKey } = await account.documents.query({
          ...{ TableName, IndexName: 'byStatus', ExclusiveStartKey },
          KeyConditionExpression: '#status = :status',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':status': status },
        });
        ids.push(...Items.map(({ orderId }) => orderId));
        ExclusiveStartKey = LastEvaluatedKey;
        if (ExclusiveStartKey === undefined) return ids;
      }
    };

  const readShardedIndex =
    (config: ShardedIndexConfig): ReadOrders =>
    async (value) => {
      const ids: string[] = [];
      for await (const item of fanOutItems(account.dynamodb, config, { value }))
        ids.push(String(plainItem(item).orderId));
      return ids;
    };

  /** The ids that the deployed function finds, in its order. */
  async function queried(queryName: string, value: string): Promise<string[]> {
    const { items } = await account.invoke(queryName, { index: 'byStatusSharded', value });
    expect(items).toEqual([...items].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1)));
    return items.map(({ orderId }: { orderId: string }) => orderId);
  }

  /** While the writer waits, the table, an index and the deployed query function have the same orders. */
  async function expectAll(orders: RunningOrders, tableName: string, read: ReadOrders, queryName?: string) {
    await orders.whilePaused(async () => {
      const { Items = [] } = await account.documents.scan({ TableName: tableName, ConsistentRead: true });
      expect(Items.map(({ orderId }) => orderId).sort()).toEqual(orders.idsOf());
      for (const status of STATUSES) {
        expect((await read(status)).sort()).toEqual(orders.idsOf(status));
        if (queryName !== undefined) expect((await queried(queryName, status)).sort()).toEqual(orders.idsOf(status));
      }
    });
    expect(orders.problems).toEqual([]);
  }

  /** Whether the command in the guide prints `ACTIVE` for an index. */
  async function isActive(TableName: string, indexName: string): Promise<boolean> {
    const [, query] = /describe-table .*\n +--query '(.*)'/.exec(GUIDE)!;
    const { Table } = await account.dynamodb.describeTable({ TableName });
    const statuses = await account.select(query!.replace('byStatusSharded', indexName), { Table });
    return JSON.stringify(statuses) === '["ACTIVE"]';
  }

  /** The output of `check --account` for the next deployment. */
  const checked = (name: string, build: (stack: Stack) => void, ...more: string[]) =>
    printed(check, '--account', ...more, '--app', assemblyOf(name, build), '--endpoint', account.endpoint);

  /** The ids of the findings of `check`. */
  async function findings(name: string, build: (stack: Stack) => void): Promise<string[]> {
    const { findings: found } = JSON.parse(await checked(name, build, '--json'));
    return found.map(({ id }: { id: string }) => id.replace('cdk-even-shards:', '')).sort();
  }

  describe('same app and same ID, with writers that can change', () => {
    const name = 'SameApp';
    const step = (given: SameAppStep) => sameApp(given);
    const sharded: SameAppStep = { isSharded: true };
    const indexed: SameAppStep = { ...sharded, hasShardedIndex: true };
    const filling: SameAppStep = { ...indexed, fills: true };
    const querying: SameAppStep = { ...filling, queries: true };
    const readersMoved: SameAppStep = { ...querying, readsPlainIndex: false };
    const done: SameAppStep = { ...readersMoved, hasPlainIndex: false };
    let orders: RunningOrders;
    let tableName: string;
    let config: ShardedIndexConfig;
    let moverArn: string;

    beforeAll(async () => {
      tableName = (await deploy(name, step({}))).TableName!;
      orders = new RunningOrders(account.documents, tableName, readPlainIndex(tableName));
      await orders.start();
    }, 5 * MINUTES);
    afterAll(async () => {
      await orders?.stop();
    });

    test(
      'step 1 keeps the table, and cdk diff prints the new settings of the guide',
      async () => {
        expect(await diff(name, step(sharded))).toBe(inGuide('class'));
        await deployTwice(name, [step({}), step(sharded)], () => orders.progress());
        await expectAll(orders, tableName, readPlainIndex(tableName));
      },
      10 * MINUTES,
    );

    test(
      'check reports the index and its reader in one deployment, and its advice leaves no finding',
      async () => {
        expect(await findings(name, step({ ...indexed, queries: true }))).toEqual([
          'ShardedIndex.adoptedAtOnce',
          'ShardedIndex.unboundWriters',
        ]);
        // The advice: first the index with its writers and a mover. Later the readers.
        expect(await findings(name, step(filling))).toEqual(['ShardedIndex.unboundWriters']);
      },
      10 * MINUTES,
    );

    test(
      'step 2 adds an empty index, and cdk diff prints the index of the guide',
      async () => {
        expect(await diff(name, step(indexed))).toBe(inGuide('index'));
        const { Index } = await deployTwice(name, [step(sharded), step(indexed)], async () => {
          expect(await isActive(tableName, 'byStatusSharded')).toBe(false);
          await orders.progress();
        });
        config = JSON.parse(Index!);
        expect(await isActive(tableName, 'byStatusSharded')).toBe(true);
        for (const status of STATUSES) expect(await readShardedIndex(config)(status)).toEqual([]);
        await expectAll(orders, tableName, readPlainIndex(tableName));
      },
      10 * MINUTES,
    );

    test(
      'step 3 fills the index: new writers and a mover leave no hidden item, and earlier writers hide new items',
      async () => {
        moverArn = (await deploy(name, step(filling))).MoverArn!;
        const change = (order: object) => shardAttributes(config, order);
        orders.added = change;
        await orders.progress();
        orders.added = () => ({});
        await orders.progress();
        expect((await findStrays(account.dynamodb, config)).hidden).toBeGreaterThan(0);
        orders.added = change;
        await orders.progress();
        expect(await execute(moverArn, { mode: 'audit' }, 'hidden')).toBeGreaterThan(0);
        await execute(moverArn, {}, 'moved');
        expect(await execute(moverArn, { mode: 'audit' }, 'hidden')).toBe(0);
        await expectAll(orders, tableName, readShardedIndex(config));
      },
      10 * MINUTES,
    );

    test(
      'step 4 changes the readers',
      async () => {
        expect(await findings(name, step(querying))).toEqual([]);
        const { QueryName } = await deployTwice(name, [step(filling), step(querying)], () => orders.progress());
        orders.read = readShardedIndex(config);
        await orders.progress();
        await expectAll(orders, tableName, readShardedIndex(config), QueryName!);
      },
      10 * MINUTES,
    );

    test(
      'step 5 removes the old index after its readers, and its undo fills the index again',
      async () => {
        // `check` covers the last step. Its advice: first check that no function queries the index.
        const permitted = /The policies of these functions or roles allow queries of the index: SameApp\/Reader/;
        expect(await checked(name, step({ ...done, readsPlainIndex: true }))).toMatch(permitted);
        await deploy(name, step(readersMoved));
        expect(await checked(name, step(done))).toMatch(
          /index byStatus would be deleted.*First check that no application/,
        );
        const { QueryName } = await deployTwice(name, [step(readersMoved), step(done)], async () => {
          await expectAll(orders, tableName, readPlainIndex(tableName));
        });
        expect(await isActive(tableName, 'byStatus')).toBe(false);
        await orders.progress();
        await expectAll(orders, tableName, readShardedIndex(config), QueryName!);
      },
      15 * MINUTES,
    );
  });

  describe('same app, not convertible, with writers that cannot change', () => {
    const name = 'Kept';
    let orders: RunningOrders;
    let mapping: RunningMapping | undefined;
    let tableName: string;
    let config: ShardedIndexConfig;
    const indexed = { hasShardedIndex: true };

    beforeAll(async () => {
      tableName = (await deploy(name, keptTable())).TableName!;
      orders = new RunningOrders(account.documents, tableName, readPlainIndex(tableName));
      await orders.start();
    }, 5 * MINUTES);
    afterAll(async () => {
      await mapping?.stop();
      await orders?.stop();
    });

    const follow = async (keeperName: string) => {
      await mapping?.stop();
      mapping = new RunningMapping(account.lambda, await TableStream.of(account.endpoint, tableName), keeperName);
      mapping.start();
    };

    test(
      'CloudFormation rejects another class under the same ID, and the table stays',
      async () => {
        await expect(deploy(name, sameApp({ isSharded: true }))).rejects.toThrow();
        await orders.progress();
        await expectAll(orders, tableName, readPlainIndex(tableName));
      },
      10 * MINUTES,
    );

    test(
      'the index changes nothing else of the table, as cdk diff prints in the guide',
      async () => {
        expect(await diff(name, keptTable(indexed))).toBe(inGuide('not convertible'));
        // `check` knows the index by the configuration of its reader, and its advice is to deploy the reader later.
        const atOnce = 'ShardedIndex.adoptedAtOnce';
        expect(await findings(name, keptTable({ ...indexed, queries: true }))).toContain(atOnce);
        expect(await findings(name, keptTable(indexed))).not.toContain(atOnce);
        const { Index } = await deployTwice(name, [keptTable(), keptTable(indexed)], () => orders.progress());
        config = JSON.parse(Index!);
        expect(await isActive(tableName, 'byStatusSharded')).toBe(true);
        await expectAll(orders, tableName, readPlainIndex(tableName));
      },
      10 * MINUTES,
    );

    test(
      'a keeper that counts changes no item, and its undo removes only the keeper',
      async () => {
        const withStream = { ...indexed, hasStream: true };
        const counting = { ...withStream, keeps: 'counting' } as const;
        const { KeeperName } = await deployTwice(name, [keptTable(withStream), keptTable(counting)], () =>
          orders.progress(),
        );
        await follow(KeeperName!);
        await orders.progress();
        await mapping!.settle();
        for (const status of STATUSES) expect(await readShardedIndex(config)(status)).toEqual([]);
        await expectAll(orders, tableName, readPlainIndex(tableName));
      },
      10 * MINUTES,
    );

    test(
      'a keeper that corrects, and its sweep, fill the index',
      async () => {
        const counting = { ...indexed, hasStream: true, keeps: 'counting' } as const;
        const correcting = { ...counting, keeps: 'correcting' } as const;
        const { KeeperName } = await deployTwice(name, [keptTable(counting), keptTable(correcting)], () =>
          orders.progress(),
        );
        await follow(KeeperName!);
        await orders.progress();
        await mapping!.settle();
        expect(await account.invoke(KeeperName!, { sweep: true })).toHaveProperty('sweep');
        await account.invoke(KeeperName!, {});
        await orders.whilePaused(async () => {
          await mapping!.settle();
          expect((await findStrays(account.dynamodb, config)).hidden).toBe(0);
        });
        expect(mapping!.problems).toEqual([]);
      },
      10 * MINUTES,
    );

    test(
      'readers of the new index find each order that the keeper has checked',
      async () => {
        const correcting = { ...indexed, hasStream: true, keeps: 'correcting' } as const;
        const { QueryName } = await deploy(name, keptTable({ ...correcting, queries: true }));
        orders.delayMs = 20_000;
        orders.read = readShardedIndex(config);
        await orders.progress();
        await sleep(1_000);
        await orders.whilePaused(() =>
          mapping!.settle().then(() => expectAll(orders, tableName, readShardedIndex(config), QueryName!)),
        );
        expect(mapping!.problems).toEqual([]);
      },
      10 * MINUTES,
    );
  });

  describe('another owner', () => {
    const tableName = 'OwnedOrders';
    let orders: RunningOrders;

    beforeAll(async () => {
      await deploy('Owner', ownedTable());
      orders = new RunningOrders(account.documents, tableName, readPlainIndex(tableName));
      await orders.start();
    }, 5 * MINUTES);
    afterAll(async () => {
      await orders?.stop();
    });

    test(
      'the owner adds the index, and the app imports the table and fills the index',
      async () => {
        await deployTwice('Owner', [ownedTable(), ownedTable({ hasShardedIndex: true })], () => orders.progress());
        expect(await isActive(tableName, 'byStatusSharded')).toBe(true);
        const { Index } = await deploy('Importing', importingApp({ fills: true }));
        await destroy('Importing', importingApp({ fills: true }));
        await expectAll(orders, tableName, readPlainIndex(tableName));
        const { MoverArn, QueryName } = await deploy('Importing', importingApp({ fills: true, queries: true }));
        const config = JSON.parse(Index!) as ShardedIndexConfig;
        orders.added = (order) => shardAttributes(config, order);
        await orders.progress();
        await execute(MoverArn!, {}, 'moved');
        expect(await execute(MoverArn!, { mode: 'audit' }, 'hidden')).toBe(0);
        orders.read = readShardedIndex(config);
        await orders.progress();
        await expectAll(orders, tableName, readShardedIndex(config), QueryName!);
      },
      15 * MINUTES,
    );
  });

  describe('uneven shards, with a consumer that reads in the meantime', () => {
    const name = 'Shards';
    let events: RunningEvents;
    let StreamName: string;

    /** The open shards, by their hash keys. */
    const openShards = async () => {
      const { Shards = [] } = await account.kinesis.listShards({ StreamName });
      const from = ({ HashKeyRange }: Shard) => BigInt(HashKeyRange!.StartingHashKey!);
      return Shards.filter((shard) => shard.SequenceNumberRange?.EndingSequenceNumber === undefined).sort((a, b) =>
        from(a) < from(b) ? -1 : 1,
      );
    };
    const skew = async () =>
      skewOf(
        (await openShards()).map(({ HashKeyRange: { StartingHashKey, EndingHashKey } = {} }) => ({
          startingHashKey: BigInt(StartingHashKey!),
          endingHashKey: BigInt(EndingHashKey!),
        })),
      );

    /** Two shards become one, and this shard becomes two: the stream still has four shards. */
    const makeUneven = async () => {
      const [first, second] = await openShards();
      await account.kinesis.mergeShards({
        StreamName,
        ShardToMerge: first!.ShardId,
        AdjacentShardToMerge: second!.ShardId,
      });
      const [widest] = await openShards();
      const NewStartingHashKey = String(BigInt(widest!.HashKeyRange!.StartingHashKey!) + 2n ** 124n);
      await account.kinesis.splitShard({ StreamName, ShardToSplit: widest!.ShardId, NewStartingHashKey });
    };

    beforeAll(async () => {
      StreamName = (await deploy(name, adoptedStream())).StreamName!;
      await makeUneven();
      events = new RunningEvents(account.kinesis, StreamName);
      await events.start();
      await events.caughtUp();
    }, 5 * MINUTES);
    afterAll(async () => {
      await events?.stop();
    });

    test(
      'step 1 keeps the stream and its uneven shards, as cdk diff prints in the guide',
      async () => {
        const before = await skew();
        expect(before).toBeGreaterThan(1.4);
        expect(await diff(name, adoptedStream({ isUniform: true }))).toBe(inGuide('stream'));
        await deployTwice(name, [adoptedStream(), adoptedStream({ isUniform: true })], () => events.caughtUp());
        expect(await skew()).toBe(before);
      },
      10 * MINUTES,
    );

    test(
      'steps 2 and 3 report and repair the shards, and the consumer reads each record once and in order',
      async () => {
        const steps = [
          adoptedStream({ isUniform: true }),
          adoptedStream({ isUniform: true, reconciles: 'reporting' }),
        ] as const;
        const { ReconciliationName } = await deployTwice(name, steps, () => events.caughtUp());
        const before = await skew();
        await account.invoke(ReconciliationName!, {});
        expect(await skew()).toBe(before);
        await deploy(name, adoptedStream({ isUniform: true, reconciles: 'repairing' }));
        await account.invoke(ReconciliationName!, {});
        expect(await skew()).toBeLessThan(1.05);
        const even = (await openShards()).map(({ ShardId }) => ShardId);
        expect(even).toHaveLength(4);
        await deploy(name, steps[1]);
        await events.caughtUp();
        expect((await openShards()).map(({ ShardId }) => ShardId)).toEqual(even);
        expect([...events.shards]).toEqual(expect.arrayContaining(even));
        expect(events.problems).toEqual([]);
      },
      10 * MINUTES,
    );

    test(
      'an app that imports the stream makes its shards even, and its undo changes no shard',
      async () => {
        await makeUneven();
        expect(await skew()).toBeGreaterThan(1.4);
        const { StreamDescriptionSummary } = await account.kinesis.describeStreamSummary({ StreamName });
        const imported = importedStream(StreamDescriptionSummary!.StreamARN!);
        const { ReconciliationName } = await deploy('ImportedShards', imported);
        await account.invoke(ReconciliationName!, { repair: true });
        expect(await skew()).toBeLessThan(1.05);
        await destroy('ImportedShards', imported);
        expect(await skew()).toBeLessThan(1.05);
        await events.caughtUp();
        expect(events.problems).toEqual([]);
      },
      10 * MINUTES,
    );
  });
});
