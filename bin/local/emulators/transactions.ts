import { createHash } from 'node:crypto';
import { plainDecimal } from '../../../lib/core/kernel/decimal';
import { jsonItemBytes } from '../json-item';
import { storedItem } from '../limits/table-shapes';
import { capacityByTable } from './consumed-capacity';
import { type ServiceAnswer as Answer, type Call, refusal } from './gated-service';

type Item = Record<string, unknown>;

/** One action of a transaction, as a single operation. */
interface Action {
  readonly isCheck: boolean;
  readonly operation: string;
  readonly input: Item & { readonly TableName: string };
  readonly key: Item;
  /** The item before the transaction. */
  readonly before: Item | undefined;
  readonly returnsBefore: boolean;
}

/** The operation that runs each action. A condition check runs as an update without changes. */
const OPERATIONS: Readonly<Record<string, string>> = {
  ConditionCheck: 'UpdateItem',
  Delete: 'DeleteItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
};
const MAX_ACTIONS = 100;
const MAX_BYTES = 4 * 1024 * 1024;
const LONGEST_TOKEN = 36;
/**
 * DynamoDB remembers a client request token for this long. Source: the API reference, TransactWriteItems,
 * ClientRequestToken.
 */
const TOKEN_MS = 10 * 60_000;

/**
 * TransactWriteItems and TransactGetItems, which dynalite does not have. The caller runs no other request in parallel, so
 * that requests never read a partial transaction. Each action runs as a single operation, and is undone if another
 * action fails.
 *
 * Source: the API reference, TransactWriteItems and TransactGetItems.
 */
export class Transactions {
  /** Recent transactions by client request token, each with the time at which the token expires. */
  private readonly done = new Map<string, { readonly digest: string; readonly untilMs: number }>();

  /** @param call runs one operation */
  constructor(private readonly call: Call) {}

  async write(input: Item): Promise<Answer> {
    const { TransactItems, ClientRequestToken: token, ReturnConsumedCapacity } = input;
    const items = TransactItems as readonly Record<string, Item>[];
    if (typeof token === 'string' && token.length > LONGEST_TOKEN) return invalid(TOKEN);
    const digest = createHash('sha256').update(JSON.stringify(items, inOrder)).digest('base64');
    const before = typeof token === 'string' ? this.doneWith(token) : undefined;
    if (before !== undefined && before !== digest) return failed('IdempotentParameterMismatchException', MISMATCH);
    const problem = problemOf(items, Object.keys(OPERATIONS));
    if (problem !== undefined) return invalid(problem);
    const actions: Action[] = [];
    for (const item of items) actions.push(await this.actionOf(item, ReturnConsumedCapacity));
    if (before !== undefined) return done(await this.readAll(actions), {});
    if (hasTwice(actions.map(({ input: { TableName }, key }) => [TableName, key]))) return invalid(TWICE);
    const put = actions.map(({ operation, input, before }) => (operation === 'PutItem' ? input.Item : before));
    if (isTooLarge(put)) return invalid(TOO_LARGE);
    const answer = await this.doAll(actions);
    if (answer.status === 200 && typeof token === 'string') {
      this.done.set(token, { digest, untilMs: performance.now() + TOKEN_MS });
    }
    return answer;
  }

  async get({ TransactItems, ReturnConsumedCapacity }: Item): Promise<Answer> {
    const items = TransactItems as readonly Record<string, Item>[];
    const problem = problemOf(items, ['Get']);
    if (problem !== undefined) return invalid(problem);
    const answers: Answer[] = [];
    for (const { Get } of items) {
      answers.push(await this.call('GetItem', { ...Get, ConsistentRead: true, ReturnConsumedCapacity }));
    }
    const refused = refusalOf(answers);
    if (refused !== undefined) return refused;
    if (hasTwice(items.map(({ Get }) => [Get!.TableName, Object(Get!.Key)]))) return invalid(TWICE);
    if (isTooLarge(answers.map(({ output }) => output.Item))) return invalid(TOO_LARGE);
    // If an item has no projected attribute, TransactGetItems returns no item, but GetItem returns an empty item.
    const isThere = (item: Item | undefined) => item !== undefined && Object.keys(item).length > 0;
    return done(answers, { Responses: answers.map(({ output: { Item } }) => (isThere(Item) ? { Item } : {})) });
  }

  private doneWith(token: string): string | undefined {
    const now = performance.now();
    for (const [each, { untilMs }] of this.done) if (untilMs <= now) this.done.delete(each);
    return this.done.get(token)?.digest;
  }

  private async actionOf(item: Record<string, Item>, ReturnConsumedCapacity: unknown): Promise<Action> {
    const [kind, { ReturnValuesOnConditionCheckFailure, ...input }] = Object.entries(item)[0]!;
    const TableName = String(input.TableName);
    const key = kind === 'Put' ? await this.keyOf(TableName, Object(input.Item)) : Object(input.Key);
    return {
      isCheck: kind === 'ConditionCheck',
      operation: OPERATIONS[kind]!,
      input: { ...input, TableName, ReturnConsumedCapacity },
      key,
      before: await storedItem(this.call, TableName, key),
      returnsBefore: ReturnValuesOnConditionCheckFailure === 'ALL_OLD',
    };
  }

  /** The key attributes of an item. Empty if the table does not exist. */
  private async keyOf(TableName: string, item: Item): Promise<Item> {
    const { output } = await this.call('DescribeTable', { TableName });
    const names: { AttributeName: string }[] = output.Table?.KeySchema ?? [];
    return Object.fromEntries(names.map(({ AttributeName: name }) => [name, item[name]]));
  }

  /**
   * Reads the items of a repeated transaction. For a repeated transaction, DynamoDB returns the read capacity of these
   * reads.
   */
  private async readAll(actions: readonly Action[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (const { key: Key, input } of actions) {
      const { TableName, ReturnConsumedCapacity } = input;
      answers.push(await this.call('GetItem', { TableName, Key, ConsistentRead: true, ReturnConsumedCapacity }));
    }
    return answers;
  }

  /** Runs all actions. If dynalite rejects an action, undoes the other actions. */
  private async doAll(actions: readonly Action[]): Promise<Answer> {
    const answers: Answer[] = [];
    for (const { operation, input } of actions) answers.push(await this.call(operation, input));
    const isDone = answers.every(({ status }) => status === 200);
    for (const [index, action] of actions.entries()) {
      if (answers[index]!.status === 200 && (action.isCheck || !isDone)) await this.undo(action);
    }
    return refusalOf(answers, actions) ?? done(answers, {});
  }

  private async undo({ before, key, input: { TableName } }: Action): Promise<void> {
    if (before === undefined) await this.call('DeleteItem', { TableName, Key: key });
    else await this.call('PutItem', { TableName, Item: before });
  }
}

const MISMATCH = 'The provided client request token is already in use with other parameters';
const TWICE = 'Transaction request cannot include multiple operations on one item';
const TOKEN = `1 validation error detected: 'clientRequestToken' must have length less than or equal to ${LONGEST_TOKEN}`;
const TOO_LARGE = 'The aggregate size of the items in the transaction exceeds the limit of 4 MB';

function problemOf(items: readonly Record<string, Item>[], kinds: readonly string[]): string | undefined {
  if (!Array.isArray(items) || items.length === 0 || items.length > MAX_ACTIONS) {
    return `1 validation error detected: 'transactItems' must have 1 to ${MAX_ACTIONS} members`;
  }
  const isOneOf = (item: Record<string, Item>) => kinds.filter((kind) => item?.[kind] !== undefined).length === 1;
  if (!items.every(isOneOf)) return `TransactItems can only contain one of ${kinds.join(', ')}`;
  const isWhole = ({ ConditionCheck: check }: Record<string, Item>) => check === undefined || check.ConditionExpression;
  return items.every(isWhole) ? undefined : "1 validation error detected: 'conditionExpression' must not be null";
}

function hasTwice(places: readonly [TableName: unknown, key: Item][]): boolean {
  const names = places.map(([TableName, key]) =>
    JSON.stringify([TableName, Object.entries(key).sort()], (name, value) => (name === 'N' ? canonical(value) : value)),
  );
  return new Set(names).size < names.length;
}

/** Two notations of a number are the same key. dynalite rejects a text that is not a number. */
function canonical(number: unknown): unknown {
  try {
    return plainDecimal(String(number));
  } catch {
    return number;
  }
}

function isTooLarge(items: readonly unknown[]): boolean {
  const sizes = items.map((item) => (item === undefined ? 0 : jsonItemBytes(item as Item)));
  return sizes.reduce((sum, size) => sum + size, 0) > MAX_BYTES;
}

/** Sorts the members of an object, because two requests are equal even if their members have different orders. */
function inOrder(_name: string, value: unknown): unknown {
  if (Object(value) !== value || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value as Item).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * The response, with the consumed capacity. Each item counts twice: one read or write to prepare, and one to commit.
 * Source: the API reference, ReadConsumedCapacity.
 */
function done(answers: readonly Answer[], output: object): Answer {
  const consumed = answers.flatMap((answer) => answer.output.ConsumedCapacity ?? []);
  const ConsumedCapacity = capacityByTable(consumed, 2);
  return { status: 200, output: { ...output, ...(consumed.length > 0 && { ConsumedCapacity }) } };
}

/**
 * Validation messages with these prefixes cancel the transaction, because an item or its key is invalid. All other
 * validation messages reject the request. Source: the API reference, TransactWriteItems. Source for keys: the tests of
 * nubo-db/dynamodb-conformance, which record the responses of AWS.
 */
const OF_THE_ITEM = [
  'An operand in the update expression has an incorrect data type',
  'Item size to update has exceeded the maximum allowed size',
  'Type mismatch for attribute to update',
  'The document path provided in the update expression is invalid for update',
  'The provided expression refers to an attribute that does not exist in the item',
  'The provided key element does not match the schema',
  'One or more parameter values were invalid: Missing the key',
  'One or more parameter values were invalid: Type mismatch for key',
  'One or more parameter values were invalid: Type mismatch for Index Key',
];

/** The code of the cancellation reason. Undefined if the request itself is invalid. */
function codeOf({ output: { __type = '', message } }: Answer): string | undefined {
  if (__type.endsWith('#ConditionalCheckFailedException')) return 'ConditionalCheckFailed';
  const isOfTheItem = __type.endsWith('#ValidationException') && OF_THE_ITEM.some((text) => message.startsWith(text));
  return isOfTheItem ? 'ValidationError' : undefined;
}

/** The error of an invalid request, or the cancellation of the transaction. Undefined if all actions succeeded. */
function refusalOf(answers: readonly Answer[], actions: readonly Action[] = []): Answer | undefined {
  const refused = answers.filter(({ status }) => status !== 200);
  if (refused.length === 0) return undefined;
  return refused.find((answer) => codeOf(answer) === undefined) ?? cancelled(answers, actions);
}

function cancelled(answers: readonly Answer[], actions: readonly Action[]): Answer {
  const CancellationReasons = answers.map((answer, index) => {
    if (answer.status === 200) return { Code: 'None' };
    const { before, returnsBefore } = actions[index] ?? {};
    const Code = codeOf(answer);
    const hasItem = Code === 'ConditionalCheckFailed' && returnsBefore && before !== undefined;
    return { Code, Message: answer.output.message, ...(hasItem && { Item: before }) };
  });
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return failed('TransactionCanceledException', message, { CancellationReasons });
}

function invalid(message: string): Answer {
  return failed('ValidationException', message);
}

function failed(name: string, message: string, more: object = {}): Answer {
  return refusal(`com.amazonaws.dynamodb.v20120810#${name}`, message, more);
}
