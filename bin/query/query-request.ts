import type { FanOutOrder } from '../../lib/core/fan-out/page-request';
import type { FanOutRequest, FanOutValue } from '../../lib/core/sharded-index/query/fan-out-request';
import type { SortKeyCondition, SortKeyValue } from '../../lib/core/sharded-index/query/sort-key-select';
import type { ShardingOfNow } from '../deployed-stack/sharding-of-now';
import { numberOf, UsageError } from '../flags';

/** The flags of the request. */
export interface RequestFlags {
  readonly value?: string[];
  readonly eq?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly gt?: string;
  readonly gte?: string;
  readonly between?: string;
  readonly 'begins-with'?: string;
  readonly order?: string;
  readonly limit?: string;
  readonly cursor?: string;
  readonly project?: string;
}

const CONDITIONS = ['eq', 'lt', 'lte', 'gt', 'gte', 'between', 'begins-with'] as const;

export const DEFAULT_LIMIT = 25;

/** Converts the flags to a request. The key of the index defines whether a value and a sort key are text or numbers. */
export function queryRequest(command: string, flags: RequestFlags, sharding: ShardingOfNow): FanOutRequest {
  const { value = [], order, limit, cursor, project } = flags;
  const { valueAttribute, sortKeyAttributes, keyLayout } = sharding.config;
  const values = value.map((text): FanOutValue => {
    const isNumber = keyLayout === 'multi-attribute' && sharding.typeOf(valueAttribute ?? '') === 'N';
    return isNumber ? digitsOf(command, 'value', text) : text;
  });
  const sortKey = conditionOf(command, flags, (flag, text) =>
    sharding.typeOf(sortKeyAttributes[0] ?? '') === 'N' ? digitsOf(command, flag, text) : text,
  );
  return {
    ...(values.length === 1 && { value: values[0]! }),
    ...(values.length > 1 && { values }),
    ...(sortKey !== undefined && { sortKey }),
    ...(order !== undefined && { order: order as FanOutOrder }),
    limit: numberOf(command, 'limit', limit) ?? DEFAULT_LIMIT,
    ...(cursor !== undefined && { cursor }),
    ...(project !== undefined && { projection: project.split(',') }),
  };
}

/** The digits of a number as the user gave them, because JavaScript would round a large number. */
function digitsOf(command: string, flag: string, text: string): { N: string } {
  numberOf(command, flag, text);
  return { N: text.trim() };
}

function conditionOf(
  command: string,
  flags: RequestFlags,
  typed: (flag: string, text: string) => SortKeyValue,
): SortKeyCondition | undefined {
  const given = CONDITIONS.filter((name) => flags[name] !== undefined);
  if (given.length > 1) {
    throw new UsageError(
      `give one of ${given.map((name) => `--${name}`).join(' and ')}: between includes both ends`,
      command,
    );
  }
  const [name] = given;
  if (name === undefined) return undefined;
  const text = flags[name]!;
  if (name === 'begins-with') return { beginsWith: text } as SortKeyCondition;
  if (name !== 'between') return { [name]: typed(name, text) } as unknown as SortKeyCondition;
  const ends = text.split(',');
  if (ends.length !== 2) throw new UsageError(`--between must be two values, FROM,TO, got "${text}"`, command);
  return { between: ends.map((end) => typed(name, end)) } as unknown as SortKeyCondition;
}
