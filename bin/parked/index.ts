import { type BaseParkingStore, DynamoDbParkingStore, type ParkingTableClient } from '../../lib/core/consumer';
import { EvenShardsError } from '../../lib/core/kernel/errors';
import { askingAccount } from '../deployed-stack/account-error';
import { awsClients } from '../deployed-stack/aws-clients';
import { endpointOf, parsedFlags, UsageError } from '../flags';
import { print, printText } from '../print';
import { type PrintedKey, parkedReport } from './parked-report';

const COMMAND = 'even-shards parked';

const HELP = `usage: even-shards parked --table TABLE --consumer NAME [options]
       even-shards parked --table TABLE --consumer NAME resume KEY
       even-shards parked --table TABLE --consumer NAME skip KEY
       even-shards parked --table TABLE --consumer NAME drop KEY

Lists the parked keys of an ordered consumer: how many records wait, since when the first record blocks the key, how often it was
tried, and the error of the last attempt. It reads DynamoDB with the credentials and the region of the environment.

  resume KEY  tries the key again with the next replay, even if the key is dead
  skip KEY    deletes the first record of the key permanently
  drop KEY    deletes all waiting records of the key permanently

  --table TABLE    the name of the parking table
  --consumer NAME  the name of the consumer in the table
  --endpoint URL   the endpoint of DynamoDB, such as a local run
  --json           print one line of JSON for each key
  --payload        also print the data of the first record of each key, as text
  --help           show this text

exit code: 0 if no key is dead, 1 if a key is dead or if KEY is not parked, 2 if an argument is invalid, 3 if a request to the
account fails.

example: even-shards parked --table Parked --consumer orders`;

const OPTIONS = {
  consumer: { type: 'string' },
  endpoint: { type: 'string' },
  help: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  payload: { type: 'boolean', default: false },
  table: { type: 'string' },
} as const;

const EXIT_DEAD = 1;

/** The actions on a key, each with its success message. */
const ACTIONS = {
  resume: 'is retried with the next replay',
  skip: 'continues after the record that blocked it',
  drop: 'has no waiting records',
} as const;

/**
 * The key is not parked. Perhaps another operator has already resumed, skipped or dropped it, or the name of the key is
 * wrong.
 */
class KeyNotParkedError extends EvenShardsError {
  constructor(partitionKey: string) {
    super('KEY_NOT_PARKED', `${JSON.stringify(partitionKey)} is not parked`, { summary: 'the key is not parked' });
  }
}

export async function parked(args: string[], clientOf: (endpoint?: string) => ParkingTableClient = dynamoDb) {
  const { values: flags, positionals } = parsedFlags(COMMAND, { args, options: OPTIONS, allowPositionals: true });
  if (flags.help) return printText(HELP);
  const { table, consumer } = flags;
  if (table === undefined || consumer === undefined) throw new UsageError('give --table and --consumer', COMMAND);
  const store = new DynamoDbParkingStore(clientOf(endpointOf(COMMAND, 'endpoint', flags.endpoint)), {
    tableName: table,
    consumer,
  });
  const [action, key, ...others] = positionals;
  if (action === undefined) return askingAccount(() => list(store, flags));
  if (!isAction(action) || key === undefined || others.length > 0) {
    throw new UsageError('give resume, skip or drop, and one key', COMMAND);
  }
  if (!(await askingAccount(() => store[action](key)))) throw new KeyNotParkedError(key);
  print(`${JSON.stringify(key)} ${ACTIONS[action]}`);
}

function isAction(action: string): action is keyof typeof ACTIONS {
  return Object.hasOwn(ACTIONS, action);
}

async function list(store: BaseParkingStore, { json, payload }: { json: boolean; payload: boolean }): Promise<void> {
  const keys: PrintedKey[] = [];
  for await (const key of store.parked()) {
    keys.push(payload ? { ...key, payload: await payloadOf(store, key.partitionKey) } : key);
  }
  keys.sort((a, b) => a.since.getTime() - b.since.getTime());
  if (json) for (const key of keys) print(JSON.stringify(key));
  else print(parkedReport(keys, Date.now()));
  if (keys.some(({ dead }) => dead)) process.exitCode = EXIT_DEAD;
}

/** The data of the record that blocks the key, as text. Undefined if no record of the key waits any more. */
async function payloadOf(store: BaseParkingStore, partitionKey: string): Promise<string | undefined> {
  const key = (await store.find([partitionKey])).get(partitionKey);
  if (key === undefined) return undefined;
  const firstRecord = { ...key, next: Math.min(key.next, key.first + 1) };
  for await (const { data } of store.records(firstRecord)) return Buffer.from(data).toString();
  return undefined;
}

function dynamoDb(endpoint?: string): ParkingTableClient {
  return awsClients(endpoint === undefined ? {} : { dynamodb: endpoint }).dynamodb;
}
