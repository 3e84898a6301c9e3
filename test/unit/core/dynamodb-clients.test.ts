import { join } from 'node:path';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import ts from 'typescript';
import * as core from '../../../lib/core';
import { InvalidArgumentError } from '../../../lib/core/kernel/errors';
import { indexConfig } from '../../support/index-config';

const config = indexConfig();
const consumer = { tableName: 'Table', consumer: 'c' };
const cache = { get: () => undefined, set: () => {} };

/** A call of each entry point that accepts a client. */
const ENTRY_POINTS: Readonly<Record<string, (client: never) => unknown>> = {
  'new DynamoDbParkingStore': (client) => new core.DynamoDbParkingStore(client, consumer),
  'DynamoDbParkingStore.fromEnvironment': (client) => core.DynamoDbParkingStore.fromEnvironment(client),
  'new DynamoDbRegistryStore': (client) => new core.DynamoDbRegistryStore(client, 'Table'),
  'new DynamoDbShardCountReader': (client) => new core.DynamoDbShardCountReader(client, config),
  'new DynamoDbShardCountStore': (client) => new core.DynamoDbShardCountStore(client, config),
  'new WriteReporter': (client) => new core.WriteReporter(client, config, {}),
  cachedQueryClient: (client) => core.cachedQueryClient(client, cache),
  fanOutCount: (client) => core.fanOutCount(client, config, { value: 'a' }),
  fanOutItems: (client) => core.fanOutItems(client, config, { value: 'a' }).next(),
  fanOutQuery: (client) => core.fanOutQuery(client, config, { value: 'a' }),
  findStrays: (client) => core.findStrays(client, config),
  lightQueryClient: (client) => core.lightQueryClient(client),
  reshardItems: (client) => core.reshardItems(client, config),
};

/** DynamoDB operations. A parameter whose type has a method with one of these names is a DynamoDB client. */
const OPERATIONS = ['getItem', 'putItem', 'updateItem', 'deleteItem', 'query', 'scan', 'transactWriteItems'];

/** The exported functions, constructors and static methods that have a DynamoDB client as a parameter. */
function entryPointsOf(path: string): string[] {
  const options = {
    module: ts.ModuleKind.Node20,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    types: ['node'],
    noEmit: true,
  };
  const program = ts.createProgram([path], options);
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(path)!;
  const isDynamoDbClient = (type: ts.Type): boolean =>
    OPERATIONS.some((operation) => {
      const member = type.getProperty(operation);
      const [input] = (member && checker.getTypeOfSymbol(member).getCallSignatures()[0]?.parameters) ?? [];
      // A Postgres client also has a method "query", so the test also checks the input type of the method.
      const inputType = input && checker.getTypeOfSymbol(input);
      return ['TableName', 'TransactItems'].some((field) => inputType?.getProperty(field) !== undefined);
    });
  const acceptClient = (signatures: readonly ts.Signature[]): boolean =>
    signatures.some(({ parameters }) =>
      parameters.some((parameter) => isDynamoDbClient(checker.getTypeOfSymbol(parameter))),
    );
  return checker.getExportsOfModule(checker.getSymbolAtLocation(file)!).flatMap((exported) => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if ((symbol.flags & ts.SymbolFlags.Value) === 0) return [];
    const type = checker.getTypeOfSymbol(symbol);
    const statics = type
      .getProperties()
      .filter((member) => acceptClient(checker.getTypeOfSymbol(member).getCallSignatures()));
    return [
      ...(acceptClient(type.getConstructSignatures()) ? [`new ${exported.name}`] : []),
      ...(acceptClient(type.getCallSignatures()) ? [exported.name] : []),
      ...statics.map(({ name }) => `${exported.name}.${name}`),
    ];
  });
}

test('this file lists every entry point of the library that accepts a DynamoDB client', () => {
  const found = entryPointsOf(join(__dirname, '../../../lib/core/index.ts'));
  expect(found.sort()).toEqual(Object.keys(ENTRY_POINTS).sort());
});

describe.each(Object.entries(ENTRY_POINTS))('%s', (_, callEntryPoint) => {
  const sent = jest.fn(async () => Promise.reject(new Error('sent')));
  const low = new DynamoDB({ region: 'eu-west-1', requestHandler: { handle: sent } as never });

  test.each([
    ['DynamoDBDocument', DynamoDBDocument.from(low)],
    ['DynamoDBDocumentClient', DynamoDBDocumentClient.from(low)],
  ])('rejects a %s before it sends a request, and names the client class to use instead', async (name, client) => {
    const call = async () => callEntryPoint(client as never);
    await expect(call()).rejects.toThrow(InvalidArgumentError);
    await expect(call()).rejects.toThrow(new RegExp(`^\\[INVALID_ARGUMENT\\] client .*new DynamoDB.*${name}`));
    expect(sent).not.toHaveBeenCalled();
  });
});

beforeAll(() => {
  process.env.EVEN_SHARDS_PARKING_TABLE_NAME = 'Table';
  process.env.EVEN_SHARDS_CONSUMER_NAME = 'c';
});
afterAll(() => {
  delete process.env.EVEN_SHARDS_PARKING_TABLE_NAME;
  delete process.env.EVEN_SHARDS_CONSUMER_NAME;
});
