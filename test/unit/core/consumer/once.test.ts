import { DynamoDbParkingStore, RecordDoneError } from '../../../../lib/core/consumer';
import { onceFor, saysDone } from '../../../../lib/core/consumer/once';

const METHODS = ['getItem', 'batchGetItem', 'query', 'putItem', 'updateItem', 'deleteItem'];
const client = Object.fromEntries(METHODS.map((method) => [method, async () => ({})])) as never;
const place = { series: 's', number: '7' };
const once = () => onceFor(new DynamoDbParkingStore(client, { tableName: 'Parked', consumer: 'c' }), 'k', place);

describe('in Postgres', () => {
  const asking = (rowCount: number | null) => ({ query: jest.fn(async () => ({ rowCount })) });

  test('a record whose number is raised may take effect', async () => {
    const postgres = asking(1);
    await once().postgres(postgres);
    expect(postgres.query).toHaveBeenCalledWith(expect.stringContaining('even_shards_done'), ['c', 'k', 's', '7']);
  });

  test.each([0, null])('one whose number is not, of %s rows, has taken effect', async (rowCount) => {
    const error = await once()
      .postgres(asking(rowCount))
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(RecordDoneError);
    expect(error).toMatchObject({ code: 'RECORD_DONE' });
    expect(saysDone(error)).toBe(true);
  });
});

describe('an error says that a record has taken effect', () => {
  const canceled = (...CancellationReasons: object[]) => ({
    name: 'TransactionCanceledException',
    CancellationReasons,
  });
  const done = { Code: 'ConditionalCheckFailed', Item: { isDone: { BOOL: true } } };

  /** An error with another as its cause, and so on. */
  const within = (error: unknown, causes: number): unknown =>
    causes === 0 ? error : new Error('failed', { cause: within(error, causes - 1) });

  test.each([
    ['it is the one of once', new RecordDoneError(), true],
    ['the first condition of a transaction found it done', canceled(done, { Code: 'None' }), true],
    ['no error', undefined, false],
    ['another error', new Error('poison'), false],
    ['another condition found it done', canceled({ Code: 'None' }, done), false],
    ['the first condition failed for another reason', canceled({ ...done, Code: 'TransactionConflict' }), false],
    ['the first condition failed on another item', canceled({ Code: 'ConditionalCheckFailed', Item: {} }), false],
    ['a transaction without reasons', { name: 'TransactionCanceledException' }, false],
    ['another error with such reasons', { ...canceled(done), name: 'ThrottlingException' }, false],
  ])('%s', (_, error, isDone) => {
    expect(saysDone(error)).toBe(isDone);
  });

  test.each([
    [0, true],
    [9, true],
    [10, false],
  ])('as a cause %d deep: %s', (causes, isDone) => {
    expect(saysDone(within(new RecordDoneError(), causes))).toBe(isDone);
    expect(saysDone(within(canceled(done), causes))).toBe(isDone);
  });
});

describe('in DynamoDB', () => {
  test('the number of a record is written before everything else, and remembered for its days', () => {
    const rememberDays = 400;
    const put = { Put: { TableName: 'Orders' } };
    const [own, ...others] = once()<object>([put]) as {
      Update: { ExpressionAttributeValues: Record<string, { N: string }> };
    }[];
    expect(others).toEqual([put]);
    const inDays = (Number(own!.Update.ExpressionAttributeValues[':expiresAt']!.N) - Date.now() / 1_000) / 86_400;
    expect(inDays).toBeCloseTo(rememberDays, 1);
  });
});
