import { shardAttributes } from '../../../lib/core';
import {
  INDEXES,
  MAX_SHARDS,
  MIN_SHARDS,
  REGISTRY_FUNCTION_NAME,
  REGISTRY_TABLE_NAME,
  REPAIR,
  REQUEST_TIMEOUT_MS,
  SCALE_IN_ALARM,
  SCALE_OUT_ALARM,
  SEQUENCE,
  SHARD_COUNT,
  STREAM_NAME,
  SURGE_ALARM,
} from '../../../lib/core/contract/function-environment';
import { indexConfig } from '../../support/index-config';
import { type Invocation, LambdaFunction } from '../../support/lambda-function';
import { CANARY, type Dice, mutatedJson } from '../../support/random-json';
import { AwsStub } from './aws-stub';
import type { FuzzCase } from './fuzz-case';
import type { FuzzTarget } from './fuzz-target';
import { checkInvocation } from './oracle';

const INDEX = indexConfig({
  tableKey: ['id'],
  keyLayout: 'single-attribute',
  shards: { default: { write: 3, read: 3 } },
});
const VALUES = ['open', 'failed'];
const ITEMS = 60;

/** This timeout is much shorter than the timeout of a real function, so that a case with a silent service is short. */
const TIMEOUT_MS = 2_500;

/** A timeout that is long enough for an immediate response on any machine. */
const HONEST_TIMEOUT_MS = 30_000;

const REGISTRY = { [STREAM_NAME]: 'events', [REGISTRY_TABLE_NAME]: 'owners' };
const PRODUCER = {
  [STREAM_NAME]: 'events',
  [REQUEST_TIMEOUT_MS]: '300',
  [SEQUENCE]: 'true',
  [REGISTRY_FUNCTION_NAME]: 'registry',
};
const SCALER = {
  [STREAM_NAME]: 'events',
  [MIN_SHARDS]: '1',
  [MAX_SHARDS]: '8',
  [SURGE_ALARM]: 'surge',
  [SCALE_OUT_ALARM]: 'out',
  [SCALE_IN_ALARM]: 'in',
};

/** The bundled functions and their services. A case invokes a function several times, because functions keep state. */
export const FUNCTION_TARGETS: readonly FuzzTarget[] = [
  { name: 'records', play: putRecords },
  { name: 'messages of a queue or a table', play: putMessages },
  { name: 'queries', play: query },
  { name: 'registry', play: registry },
  { name: 'registry of a lying table', play: deceivedRegistry },
  { name: 'control plane', play: controlPlane },
];

const MAX_TURNS = 3;

/** Starts a function and the services that the function calls. */
export async function startFunction(fuzzCase: FuzzCase, name: string, environment: Record<string, string>) {
  const aws = await AwsStub.start(fuzzCase, [INDEX]);
  const bundle = fuzzCase.with(await LambdaFunction.start({ name, environment, endpoint: aws.endpoint }), (each) =>
    each.stop(),
  );
  const invoke = (payload: string, timeoutMs = TIMEOUT_MS): Promise<Invocation> => {
    fuzzCase.begins(`${name} takes ${payload}`);
    return bundle.invokeJson(payload, timeoutMs);
  };
  return { aws, invoke };
}

async function putRecords(fuzzCase: FuzzCase): Promise<void> {
  const { dice } = fuzzCase;
  const { aws, invoke } = await startFunction(fuzzCase, 'producer', PRODUCER);
  for (let turn = 0; turn <= dice.below(MAX_TURNS); turn++) {
    const records = Array.from({ length: 1 + dice.below(6) }, (_, number) => ({
      partitionKey: `${CANARY}-${dice.below(3)}`,
      data: `${CANARY} ${dice.random()} ${number}`,
      ...(dice.chance(0.2) && { hashKeyOwner: `${CANARY} owner ${dice.below(3)}` }),
    }));
    aws.drawFates(dice);
    const isMutated = dice.chance(0.5);
    const stored = aws.records.length;
    const invocation = await invoke(isMutated ? mutatedJson({ records }, dice) : JSON.stringify({ records }));
    checkInvocation(invocation);
    if (invocation.response === undefined) {
      if (aws.records.length > stored) throw new Error('the function threw an error after it had written records');
      continue;
    }
    if (isMutated) continue;
    const { records: results } = JSON.parse(invocation.response) as { records: { sequenceNumber?: string }[] };
    if (results.length !== records.length)
      throw new Error(`the response must have ${records.length} results, got ${results.length}`);
    const data = aws.records.slice(stored).map(({ Data }) => Buffer.from(Data, 'base64').toString('latin1'));
    records.forEach((record, index) => {
      const isAcknowledged = results[index]!.sequenceNumber !== undefined;
      if (isAcknowledged && !data.some((each) => each.includes(record.data)))
        throw new Error('an acknowledged record is not in the stream');
    });
  }
}

async function putMessages(fuzzCase: FuzzCase): Promise<void> {
  const { dice } = fuzzCase;
  const { aws, invoke } = await startFunction(fuzzCase, 'producer', PRODUCER);
  for (let turn = 0; turn <= dice.below(MAX_TURNS); turn++) {
    const isQueue = dice.chance(0.5);
    const Records = Array.from({ length: 1 + dice.below(5) }, (_, number) => {
      const data = `${CANARY} ${dice.random()}`;
      return isQueue ? queueMessage(number, data) : tableChange(number, data);
    });
    aws.drawFates(dice);
    const isMutated = dice.chance(0.6);
    const stored = aws.records.length;
    const invocation = await invoke(isMutated ? mutatedJson({ Records }, dice) : JSON.stringify({ Records }));
    checkInvocation(invocation);
    if (invocation.response === undefined || isMutated) continue;
    const { batchItemFailures } = JSON.parse(invocation.response) as {
      batchItemFailures: { itemIdentifier: string }[];
    };
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const data = aws.records.slice(stored).map(({ Data }) => Buffer.from(Data, 'base64').toString('latin1'));
    for (const { identifier, text } of Records.map(nameAndText)) {
      if (!failed.has(identifier) && !data.some((each) => each.includes(text))) throw new Error('a message was lost');
    }
  }
}

async function query(fuzzCase: FuzzCase): Promise<void> {
  const { dice } = fuzzCase;
  const { aws, invoke } = await startFunction(fuzzCase, 'query-fanout', {
    [INDEXES]: JSON.stringify({ byStatus: INDEX }),
  });
  fill(aws);
  for (let turn = 0; turn <= dice.below(MAX_TURNS); turn++) {
    const event = {
      index: 'byStatus',
      value: dice.pick(VALUES),
      order: dice.pick(['ascending', 'descending', 'unordered', undefined]),
      limit: dice.pick([1, 7, 100, undefined]),
      sortKey: dice.pick([undefined, { gt: 5 }, { between: [3, 9] }, { eq: 4 }]),
      ...(dice.chance(0.3) && {
        filterExpression: '#note = :note',
        expressionAttributeNames: { '#note': 'note' },
        expressionAttributeValues: { ':note': { S: CANARY } },
      }),
    };
    aws.drawFates(dice);
    if (dice.chance(0.5)) checkInvocation(await invoke(mutatedJson(event, dice)));
    else await readPages(aws, event, dice, invoke);
  }
}

function fill(aws: AwsStub): void {
  for (let number = 0; number < ITEMS; number++) {
    const item = { id: `i${number}`, status: VALUES[number % 2]!, createdAt: number % 17, note: CANARY };
    const attributes = shardAttributes(INDEX, item);
    aws.index(INDEX.indexName!).put({
      id: { S: item.id },
      status: { S: item.status },
      createdAt: { N: String(item.createdAt) },
      note: { S: item.note },
      shard: { S: String(attributes.shard) },
    });
  }
}

/** Reads pages until the last page or a typed error. An honest service returns every item once. */
async function readPages(
  aws: AwsStub,
  event: { value: string; sortKey?: object | undefined; order?: string | undefined },
  dice: Dice,
  invoke: (payload: string) => Promise<Invocation>,
): Promise<void> {
  const ids: string[] = [];
  const sortKeys: number[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 2 * ITEMS; pages++) {
    const altered = cursor !== undefined && dice.chance(0.1);
    const sent = altered ? `${cursor!.slice(0, -3)}${dice.pick(['', 'AAA', CANARY])}` : cursor;
    const invocation = await invoke(JSON.stringify({ ...event, cursor: sent }));
    checkInvocation(invocation);
    if (altered && invocation.response !== undefined && sent !== cursor)
      throw new Error('the function accepted an altered cursor');
    if (invocation.response === undefined) return;
    const page = JSON.parse(invocation.response) as { items: { id: string; createdAt: number }[]; cursor?: string };
    ids.push(...page.items.map(({ id }) => id));
    sortKeys.push(...page.items.map(({ createdAt }) => createdAt));
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  if (aws.hasLied) return;
  const expected = aws
    .index('byStatus')
    .all()
    .filter(({ status }) => (status as { S: string }).S === event.value);
  const matching = expected.filter(({ createdAt }) => matches(Number((createdAt as { N: string }).N), event.sortKey));
  if (ids.length !== matching.length || new Set(ids).size !== ids.length) {
    throw new Error(
      `the pages must return ${matching.length} different items, got ${ids.length} items with ${new Set(ids).size} different ids`,
    );
  }
  const direction = event.order === 'descending' ? -1 : 1;
  const isSorted = sortKeys.every((key, index) => index === 0 || (key - sortKeys[index - 1]!) * direction >= 0);
  if (event.order !== 'unordered' && !isSorted)
    throw new Error(`the items are not in the order of their sort keys: ${sortKeys}`);
}

async function registry(fuzzCase: FuzzCase): Promise<void> {
  const { dice } = fuzzCase;
  const { aws, invoke } = await startFunction(fuzzCase, 'hash-key-registry', REGISTRY);
  for (let turn = 0; turn <= dice.below(2 * MAX_TURNS); turn++) {
    const event = registryEvent(dice);
    aws.drawFates(dice, { lies: false });
    const isMutated = dice.chance(0.4);
    const invocation = await invoke(isMutated ? mutatedJson(event, dice) : JSON.stringify(event));
    checkInvocation(invocation);
    aws.fate = () => 'honest';
    const list = await invoke('{"action":"list"}', HONEST_TIMEOUT_MS);
    checkInvocation(list);
    if (list.response === undefined) throw new Error(`the function returned no list of owners: ${list.error?.message}`);
    const owners = JSON.parse(list.response).owners as { owner: string; hashKey: string }[];
    const keys = new Map(owners.map(({ owner, hashKey }) => [owner, hashKey]));
    if (new Set(keys.values()).size !== owners.length) throw new Error('two owners have one key');
    if (invocation.response === undefined || event.action !== 'allocate' || isMutated) continue;
    for (const { owner, hashKey } of JSON.parse(invocation.response).owners) {
      if (keys.get(owner) !== hashKey) throw new Error('an allocated key was lost');
    }
  }
}

/** If the table returns false data, the case can check only the time and the type of the outcome. */
async function deceivedRegistry(fuzzCase: FuzzCase): Promise<void> {
  const { dice } = fuzzCase;
  const { aws, invoke } = await startFunction(fuzzCase, 'hash-key-registry', REGISTRY);
  for (let turn = 0; turn <= dice.below(2 * MAX_TURNS); turn++) {
    aws.drawFates(dice);
    checkInvocation(await invoke(JSON.stringify(registryEvent(dice))));
  }
}

async function controlPlane(fuzzCase: FuzzCase): Promise<void> {
  const { dice } = fuzzCase;
  const [name, environment, event] = dice.pick<[string, Record<string, string>, object]>([
    ['stream-scaler', SCALER, {}],
    [
      'stream-reconciler',
      { [STREAM_NAME]: 'events', [SHARD_COUNT]: '4', [REPAIR]: 'false' },
      { repair: dice.pick([undefined, false]) },
    ],
    ['stream-resharder', {}, { RequestType: 'Create', ResourceProperties: { StreamName: 'events', ShardCount: '4' } }],
  ]);
  const { aws, invoke } = await startFunction(fuzzCase, name, environment);
  aws.drawFates(dice);
  const invocation = await invoke(dice.chance(0.4) ? mutatedJson(event, dice) : JSON.stringify(event), 20_000);
  // These functions handle no data of users, so their logs may contain responses about a stream.
  checkInvocation(invocation, { mayLogService: true });
}

function registryEvent(dice: Dice): { action: string } {
  const owners = Array.from({ length: 1 + dice.below(4) }, (_, number) => `${CANARY} ${number * 10 + dice.below(10)}`);
  return dice.pick([
    { action: 'allocate', owners },
    { action: 'allocate', owners: owners.map((owner) => ({ owner, weight: 1 + dice.below(3) })) },
    { action: 'get', owners },
    { action: 'release', owners },
    { action: 'list', limit: 1 + dice.below(5) },
    { action: 'plan', mostMoves: 5 },
    { action: 'rebalance', mostMoves: 1 + dice.below(5) },
    { action: 'move', owner: owners[0], fromHashKey: '1', toHashKey: '2' },
  ]);
}

function queueMessage(number: number, data: string) {
  return {
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:jobs.fifo',
    messageId: `m${number}`,
    body: JSON.stringify({ data }),
    attributes: { MessageGroupId: `${CANARY}-${number % 2}`, SequenceNumber: `${1_000 + number}` },
  };
}

function tableChange(number: number, data: string) {
  return {
    eventSource: 'aws:dynamodb',
    eventSourceARN: 'arn:aws:dynamodb:us-east-1:000000000000:table/jobs/stream/1',
    eventID: `e${number}`,
    eventName: 'MODIFY',
    dynamodb: {
      Keys: { id: { S: `${CANARY}-${number % 2}` } },
      SequenceNumber: `${1_000 + number}`,
      NewImage: { data: { S: data } },
    },
  };
}

function nameAndText(message: ReturnType<typeof queueMessage> | ReturnType<typeof tableChange>) {
  return 'messageId' in message
    ? { identifier: message.messageId, text: JSON.parse(message.body).data as string }
    : { identifier: message.dynamodb.SequenceNumber, text: message.dynamodb.NewImage.data.S };
}

function matches(sortKey: number, condition: object | undefined): boolean {
  const { gt, between, eq }: { gt?: number; between?: [number, number]; eq?: number } = Object(condition);
  if (gt !== undefined) return sortKey > gt;
  if (between !== undefined) return sortKey >= between[0] && sortKey <= between[1];
  return eq === undefined || sortKey === eq;
}
