import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { InvalidArgumentError, shardUpdate } from '../../../lib/core';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { indexConfig } from '../index-config';
import { createKeyedTable } from '../keyed-table';

const config = indexConfig({
  indexName: 'byPhase',
  keyLayout: 'single-attribute',
  valueAttribute: 'phase',
  shardAttribute: 'phaseShard',
  sortKeyAttributes: [],
  shards: { default: { write: 5, read: 5 } },
});
const DECISIVE = ['phase', 'phaseShard'];
const Key = { jobId: 'job-1' };
const ITEM = {
  ...Key,
  phase: 'open',
  phaseShard: 'open#3',
  jobNote: 'x',
  jobTotal: 7,
  jobTags: new Set(['a', 'b', 'c']),
  jobLog: ['zero', 'one', { deep: ['a', 'b'] }],
  jobMap: { inner: { more: 1 }, grid: [[1, 2], [3]] },
};
/** The placeholders of attribute names. `#set` is an attribute that determines the shard, and `#phase` is not. */
const NAMES: Record<string, string> = {
  '#set': 'phase',
  '#REMOVE': 'phaseShard',
  '#phase': 'jobNote',
  '#a': 'jobTotal',
  '#log': 'jobLog',
  '#m1': 'jobMap',
  '#t_t': 'jobTags',
  '#new': 'a name.with[1] signs',
  '#in': 'inner',
};
const VALUES: Record<string, unknown> = {
  ':one': 1,
  ':text': 'text',
  ':SET': new Set(['a', 'z']),
  ':list': ['more'],
  ':4': { deep: true },
};

interface Path {
  tokens: string[];
  attribute: string;
  type: 'number' | 'set' | 'list' | 'text' | 'new';
}

/** Groups of attribute paths. Paths of different groups do not overlap. */
const PATHS: readonly Path[][] = [
  [
    { tokens: ['phase'], attribute: 'phase', type: 'text' },
    { tokens: ['#set'], attribute: 'phase', type: 'text' },
  ],
  [
    { tokens: ['phaseShard'], attribute: 'phaseShard', type: 'text' },
    { tokens: ['#REMOVE'], attribute: 'phaseShard', type: 'text' },
  ],
  [
    { tokens: ['jobNote'], attribute: 'jobNote', type: 'text' },
    { tokens: ['#phase'], attribute: 'jobNote', type: 'text' },
  ],
  [
    { tokens: ['jobTotal'], attribute: 'jobTotal', type: 'number' },
    { tokens: ['#a'], attribute: 'jobTotal', type: 'number' },
  ],
  [
    { tokens: ['jobTags'], attribute: 'jobTags', type: 'set' },
    { tokens: ['#t_t'], attribute: 'jobTags', type: 'set' },
  ],
  [
    { tokens: ['jobLog'], attribute: 'jobLog', type: 'list' },
    { tokens: ['#log', '[', '1', ']'], attribute: 'jobLog', type: 'text' },
    { tokens: ['jobLog', '[', '2', ']', '.', 'deep', '[', '0', ']'], attribute: 'jobLog', type: 'text' },
  ],
  [
    { tokens: ['#m1', '.', '#in', '.', 'more'], attribute: 'jobMap', type: 'number' },
    { tokens: ['jobMap', '.', 'grid', '[', '0', ']', '[', '1', ']'], attribute: 'jobMap', type: 'number' },
    { tokens: ['jobMap', '.', '#in'], attribute: 'jobMap', type: 'new' },
  ],
  [
    { tokens: ['jobExtra'], attribute: 'jobExtra', type: 'new' },
    { tokens: ['#new'], attribute: NAMES['#new']!, type: 'new' },
  ],
];

/** The numbers of expressions in one run. */
interface GrammarCounts {
  /** The number of valid expressions, and how many of these expressions the store has executed. */
  ofGrammar: number;
  ran: number;
  /** The number of valid expressions that change an attribute that determines the shard. */
  decisive: number;
  /**
   * The number of invalid or unusual texts, how many of these texts the store has executed, and how many of the executed texts
   * `shardUpdate` has rejected.
   */
  others: number;
  othersRan: number;
  othersRefused: number;
}

/**
 * Sends random update expressions to a service: valid expressions of the DynamoDB grammar, and texts that differ from
 * a valid expression in one token. Compares the result of `shardUpdate` with the change of the item.
 *
 * @param tightBrackets whether the service rejects white space around the index of a list element
 */
export async function playUpdateExpressions(
  endpoint: string,
  cases: number,
  firstSeed: number,
  { tightBrackets = false } = {},
): Promise<GrammarCounts> {
  const dynamoDb = new DynamoDB({
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    endpoint,
    maxAttempts: 1,
  });
  const documents = DynamoDBDocument.from(dynamoDb);
  const TableName = `Expressions${firstSeed}`;
  await createKeyedTable(dynamoDb, TableName, 'jobId');

  /** Returns the item after an update, or undefined if the service rejects the update. */
  async function itemBehind(update: { UpdateExpression?: string }): Promise<Record<string, unknown> | undefined> {
    await documents.put({ TableName, Item: ITEM });
    try {
      return (await documents.update({ TableName, Key, ...update, ReturnValues: 'ALL_NEW' } as never)).Attributes;
    } catch (error) {
      if ((error as Error).name === 'ValidationException') return undefined;
      throw error;
    }
  }

  const counts: GrammarCounts = { ofGrammar: 0, ran: 0, decisive: 0, others: 0, othersRan: 0, othersRefused: 0 };
  try {
    for (let seed = firstSeed; seed < firstSeed + cases; seed++) {
      const random = seededRandom(seed);
      const { tokens, attributes } = expressionOf(random);
      const isDecisive = attributes.some((attribute) => DECISIVE.includes(attribute));
      const expression = textOf(tightBrackets ? tight(tokens) : tokens, random);
      const description = `seed ${seed}: ${JSON.stringify(expression)}`;
      const guarded = guardedUpdate(expression);
      const behind = await itemBehind(updateOf(expression));
      counts.ofGrammar += 1;
      if (isDecisive) counts.decisive += 1;
      if (behind !== undefined) counts.ran += 1;
      else if ((await itemBehind(updateOf(evenly(tokens)))) === undefined)
        throw new Error(`the service rejects a valid expression, ${description}`);
      if ((guarded === undefined) !== isDecisive)
        throw new Error(`shardUpdate gives the wrong result for ${description}`);
      if (guarded !== undefined && behind !== undefined && !isSame(await itemBehind(guarded), behind))
        throw new Error(`the merged update has another result than ${description}`);

      const other = textOf(mutated(tokens, random), random);
      const ofOther = guardedUpdate(other);
      const behindOther = await itemBehind(updateOf(other));
      counts.others += 1;
      if (behindOther === undefined) continue;
      counts.othersRan += 1;
      if (ofOther === undefined) counts.othersRefused += 1;
      else if (DECISIVE.some((attribute) => !isSame(behindOther[attribute], ITEM[attribute as 'phase'])))
        throw new Error(`shardUpdate accepts a change of the shard, seed ${seed}: ${JSON.stringify(other)}`);
    }
    return counts;
  } finally {
    dynamoDb.destroy();
  }
}

/** The names and values that an expression uses, because DynamoDB rejects unused names and values. */
function updateOf(expression: string) {
  const used = <V>(of: Record<string, V>) => Object.entries(of).filter(([name]) => isUsed(expression, name));
  const names = used(NAMES);
  const values = used(VALUES);
  return {
    UpdateExpression: expression,
    ...(names.length > 0 && { ExpressionAttributeNames: Object.fromEntries(names) }),
    ...(values.length > 0 && { ExpressionAttributeValues: Object.fromEntries(values) }),
  };
}

function isUsed(expression: string, placeholder: string): boolean {
  return new RegExp(`${placeholder}(?!\\w)`).test(expression);
}

function guardedUpdate(expression: string) {
  try {
    return shardUpdate([config], Key, {}, updateOf(expression));
  } catch (error) {
    if (error instanceof InvalidArgumentError) return undefined;
    throw error;
  }
}

function isSame(a: unknown, b: unknown): boolean {
  const plain = (of: unknown) =>
    JSON.stringify(of, (_, value) => {
      if (value instanceof Set) return [...value].sort();
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1)));
    });
  return plain(a) === plain(b);
}

type Random = () => number;

function expressionOf(random: Random): { tokens: string[]; attributes: string[] } {
  const pick = <E>(from: readonly E[]): E => from[Math.floor(random() * from.length)]!;
  const shuffled = <E>(from: readonly E[]): E[] =>
    from
      .map((each) => ({ each, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ each }) => each);
  // Attributes that determine the shard are rarer, so that many expressions are allowed.
  const targets = shuffled(PATHS.filter((_, index) => index > 1 || random() < 0.2)).map(pick);
  const tokens: string[] = [];
  const attributes: string[] = [];
  for (const keyword of shuffled(['SET', 'REMOVE', 'ADD', 'DELETE'])) {
    const fitting = targets.filter(({ type }) => {
      if (keyword === 'ADD') return type === 'number' || type === 'set';
      return keyword !== 'DELETE' || type === 'set';
    });
    const chosen = fitting.slice(0, Math.floor(random() * 3));
    if (chosen.length === 0) continue;
    tokens.push(caseOf(keyword, random));
    for (const [index, path] of chosen.entries()) {
      targets.splice(targets.indexOf(path), 1);
      attributes.push(path.attribute);
      if (index > 0) tokens.push(',');
      tokens.push(...path.tokens);
      if (keyword === 'SET') tokens.push('=', ...assigned(path, pick));
      if (keyword === 'ADD') tokens.push(path.type === 'set' ? ':SET' : ':one');
      if (keyword === 'DELETE') tokens.push(':SET');
    }
  }
  return tokens.length === 0 ? expressionOf(random) : { tokens, attributes };
}

function assigned({ type, tokens }: Path, pick: <E>(from: readonly E[]) => E): string[] {
  const known = type === 'number' ? tokens : ['jobTotal'];
  const number = [['jobTotal'], ['#a'], [':one'], ['if_not_exists', '(', ...known, ',', ':one', ')']];
  const numbers = [...number, [...pick(number), '+', ':one'], [...pick(number), '-', ...pick(number)]];
  if (type === 'number') return pick(numbers);
  const list = [['jobLog'], ['#log'], [':list'], ['if_not_exists', '(', 'jobMissing', ',', ':list', ')']];
  const lists = [...list, ['list_append', '(', ...pick(list), ',', ...pick(list), ')']];
  if (type === 'list') return pick(lists);
  // dynalite crashes if an update stores a list in one of its own elements.
  if (tokens.length > 1) return pick([[':text'], [':4'], ['jobNote'], ...numbers]);
  return pick([[':text'], [':4'], ['jobNote'], ['jobLog', '[', '0', ']'], ['#m1', '.', '#in'], ...numbers, ...lists]);
}

function caseOf(keyword: string, random: Random): string {
  return [...keyword].map((letter) => (random() < 0.5 ? letter : letter.toLowerCase())).join('');
}

const SPACES = ['', '', '', ' ', ' ', '\n', '\t', '\r\n', '  \n '];

/** Joins the tokens of the index of a list element to the token before them. */
function tight(tokens: readonly string[]): string[] {
  const result: string[] = [];
  for (const [index, token] of tokens.entries()) {
    const isInside = tokens[index - 1] === '[' || token === ']';
    if (isInside) result[result.length - 1] += token;
    else result.push(token);
  }
  return result;
}

/** A notation that every service accepts: spaces between tokens, and no spaces in a path. */
function evenly(tokens: readonly string[]): string {
  return tokens.join(' ').replaceAll(/ ?([.[]) ?| (?=\])/g, '$1');
}

/** The tokens as a text, with random white space between tokens. Two words always have white space between them. */
function textOf(tokens: readonly string[], random: Random): string {
  let text = SPACES[Math.floor(random() * SPACES.length)]!;
  for (const [index, token] of tokens.entries()) {
    const space = SPACES[Math.floor(random() * SPACES.length)]!;
    const isOneWord = index > 0 && /\w$/.test(tokens[index - 1]!) && /^\w/.test(token);
    text += (index > 0 ? (isOneWord && space === '' ? ' ' : space) : '') + token;
  }
  return text + SPACES[Math.floor(random() * SPACES.length)]!;
}

const STRANGE = [
  '(',
  ')',
  '+',
  '-',
  '=',
  ',',
  '.',
  '[',
  ']',
  '0',
  '01',
  '1e3',
  '\u00a0',
  '\f',
  '\v',
  ';',
  '/**/',
  '--',
  "'",
  '"',
  '_x',
  'é',
];

/** Adds, removes, exchanges or replaces a token. */
function mutated(tokens: readonly string[], random: Random): string[] {
  const known = [
    ...tokens,
    ...STRANGE,
    ...Object.keys(NAMES),
    ...Object.keys(VALUES),
    'SET',
    'rEmove',
    'phase',
    'size',
  ];
  const result = [...tokens];
  const at = Math.floor(random() * result.length);
  const token = known[Math.floor(random() * known.length)]!;
  const kind = Math.floor(random() * 5);
  if (kind === 0) result.splice(at, 1);
  else if (kind === 1) result.splice(at, 0, token);
  else if (kind === 2) result.splice(at, 1, token);
  else if (kind === 3) result.splice(at, 2, ...result.slice(at, at + 2).reverse());
  else {
    const operand = result.indexOf('=') + 1;
    if (operand > 0) result.splice(operand, 1, '(', result[operand]!, ')');
    else result.push(token);
  }
  return result;
}
