import { FakeTable } from '../support/fakes/fake-table';
import { EVERYTHING } from '../support/fakes/fan-out-model';
import { indexConfig } from '../support/index-config';
import { createKeyedTable } from '../support/keyed-table';
import { playIndexAnswers } from '../support/plays/index-answers';
import { playTableAnswers } from '../support/plays/table-answers';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { createTable } from '../support/sharded-tables';
import { describeOnDynamoDbEmulators, serviceForTests } from './dynamodb-emulators';

/** Compares the stand-ins for DynamoDB with an emulator: docs/models.md. */
describeOnDynamoDbEmulators('the stand-ins for DynamoDB', (emulator) => {
  const service = serviceForTests(emulator.start);

  test(
    'a fake index responds as the emulator does',
    async () => {
      const isAmazons = emulator.name === 'DynamoDB Local';
      const known = { freeEmptyReads: isAmazons, otherWords: true, endsPagesOtherwise: !isAmazons };
      const compared = await playIndexAnswers(service.dynamodb, EVERYTHING, {
        calls: randomRuns(200),
        seed: 1,
        known,
      });
      console.info(`queries on ${emulator.name}`, compared);
    },
    randomRunsTimeout(300_000),
  );

  test(
    'a fake table responds as the emulator does',
    async () => {
      const compared = await playTableAnswers(service.dynamodb, {
        calls: randomRuns(600),
        seed: 1,
        transactional: true,
        keepsNotation: true,
      });
      console.info(`writes on ${emulator.name}`, compared);
    },
    randomRunsTimeout(300_000),
  );

  test('a move of an item, and a transaction, consume as many units on the emulator as on the fake table', async () => {
    const config = indexConfig({ tableName: 'Moved', sortKeyAttributes: [] });
    await createTable(service.dynamodb, config, { jobId: 'S', status: 'S', shard: 'N' });
    const item = { jobId: { S: 'one' }, status: { S: 'open' }, shard: { N: '0' } };
    const fake = new FakeTable(['jobId']);
    fake.put(item);
    await service.dynamodb.putItem({ TableName: 'Moved', Item: item });
    const move = {
      ...{ TableName: 'Moved', Key: { jobId: item.jobId }, UpdateExpression: 'SET #s = :s' },
      ...{ ConditionExpression: '#s = :old', ExpressionAttributeNames: { '#s': 'shard' } },
      ...{
        ExpressionAttributeValues: { ':s': { N: '1' }, ':old': { N: '0' } },
        ReturnConsumedCapacity: 'TOTAL' as const,
      },
    };
    const unitsOf = ({ ConsumedCapacity }: { ConsumedCapacity?: { CapacityUnits?: number } }) =>
      ConsumedCapacity?.CapacityUnits;
    expect(unitsOf(await fake.updateItem(move))).toBe(unitsOf(await service.dynamodb.updateItem(move)));

    // DynamoDB Local charges each write of a transaction once. DynamoDB charges each write twice.
    if (emulator.name === 'DynamoDB Local') return;
    await createKeyedTable(service.dynamodb, 'Transferred', 'id');
    await service.dynamodb.putItem({ TableName: 'Transferred', Item: { id: { S: 'b' } } });
    const put = { Put: { TableName: 'Transferred', Item: { id: { S: 'a' } } } };
    const remove = { Delete: { TableName: 'Transferred', Key: { id: { S: 'b' } } } };
    const transfer = { TransactItems: [put, remove], ReturnConsumedCapacity: 'TOTAL' as const };
    const { ConsumedCapacity } = await service.dynamodb.transactWriteItems(transfer);
    const ofFake = await new FakeTable(['id']).transactWriteItems(transfer as never);
    expect(ofFake.ConsumedCapacity!.map(({ CapacityUnits }) => CapacityUnits)).toEqual(
      ConsumedCapacity!.map(({ CapacityUnits }) => CapacityUnits),
    );
  });
});
