import {
  fanOutCount,
  fanOutItems,
  fanOutQuery,
  IndexNotFoundError,
  IndexNotReadyError,
  type QueryClient,
  QueryRejectedError,
} from '../../../../../lib/core';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { indexConfig } from '../../../../support/index-config';

const config = indexConfig({ shards: { default: { write: 3, read: 3 } } });

/** The responses of DynamoDB, as its users report them. Some messages end with the name of the index. */
const BACKFILLING = [
  'Cannot read from backfilling global secondary index',
  'Cannot read from backfilling global secondary index: byStatus',
];
const NOT_FOUND = [
  ['ValidationException', 'The table does not have the specified index', 'does not have index byStatus'],
  ['ValidationException', 'The table does not have the specified index: byStatus', 'does not have index byStatus'],
  ['ResourceNotFoundException', 'Requested resource not found', 'does not exist'],
  ['ResourceNotFoundException', 'Cannot do operations on a non-existent table', 'does not exist'],
] as const;

/** The field with the name of an error in the AWS SDK and in DAX. */
const CLIENTS = { SDK: 'name', DAX: 'code' } as const;

function rejecting(field: 'name' | 'code', kind: string, message: string): QueryClient & { requests: number } {
  return {
    requests: 0,
    async query() {
      this.requests += 1;
      throw Object.assign(new Error(message), { [field]: kind });
    },
  };
}

const ENTRY_POINTS = {
  fanOutQuery: (client: QueryClient) => fanOutQuery(client, config, { value: 'a' }),
  'fanOutQuery, unordered': (client: QueryClient) => fanOutQuery(client, config, { value: 'a', order: 'unordered' }),
  'fanOutQuery, partial': (client: QueryClient) =>
    fanOutQuery(client, config, { value: 'a' }, { onShardFailure: 'partial', clock: new VirtualClock() }),
  fanOutCount: (client: QueryClient) => fanOutCount(client, config, { value: 'a' }),
  fanOutItems: (client: QueryClient) => fanOutItems(client, config, { value: 'a' }).next(),
};

describe.each(Object.entries(ENTRY_POINTS))('%s', (_, read) => {
  describe.each(Object.entries(CLIENTS))('with a client of the %s', (_name, field) => {
    test.each(BACKFILLING)('an index that is still being built – throws IndexNotReadyError: %s', async (message) => {
      const client = rejecting(field, 'ValidationException', message);
      const error = await read(client).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(IndexNotReadyError);
      expect(error).toMatchObject({ code: 'INDEX_NOT_READY', cause: { message } });
      expect((error as Error).message).toContain('index byStatus of table Jobs is still being built');
      expect(client.requests).toBeLessThanOrEqual(3);
    });

    test.each(NOT_FOUND)('%s, %s – throws IndexNotFoundError', async (kind, message, problem) => {
      const error = await read(rejecting(field, kind, message)).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(IndexNotFoundError);
      expect(error).toMatchObject({ code: 'INDEX_NOT_FOUND', cause: { message } });
      expect((error as Error).message).toContain(problem);
    });

    test('an operand of another type than the key – throws QueryRejectedError with the message of DynamoDB', async () => {
      const message = 'One or more parameter values were invalid: Condition parameter type does not match schema type';
      const error = await read(rejecting(field, 'ValidationException', message)).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(QueryRejectedError);
      expect(error).toMatchObject({
        message: `[QUERY_REJECTED] DynamoDB rejected the query of index byStatus of table Jobs: ${message}`,
        summary: 'DynamoDB rejected the query of index byStatus of table Jobs',
        cause: { message },
      });
    });

    test('a missing permission – throws the error of the client', async () => {
      const client = rejecting(field, 'AccessDeniedException', 'not authorized to perform: dynamodb:Query');
      await expect(read(client)).rejects.toMatchObject({ [field]: 'AccessDeniedException' });
    });
  });
});
