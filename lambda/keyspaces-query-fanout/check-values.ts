import { VALUES } from '../../lib/core/contract/function-environment';
import { isObject } from '../../lib/core/kernel/checks';
import { type AllowedColumns, allowedTexts } from '../../lib/core/keyspaces/allowed-values';
import type { FanOutSelectRequest } from '../../lib/core/keyspaces/fan-out-select-request';
import type { ShardedKeyspacesConfig } from '../../lib/core/keyspaces/sharded-keyspaces-config';
import { partitionValues } from '../../lib/core/keyspaces/shards-of-value';
import { checkEachValue, ValueNotAllowedError } from '../value-not-allowed-error';

/**
 * Checks that a request reads only values that the construct allows the function to read.
 *
 * @throws ValueNotAllowedError for any other value; InvalidColumnValueError for a value that is not valid in the table
 */
export function checkValues(
  allowed: AllowedColumns | undefined,
  config: ShardedKeyspacesConfig,
  request: FanOutSelectRequest,
): void {
  if (allowed === undefined) return;
  const known = allowed.flatMap((each, index) => allowedTexts(`${VALUES}[${index}]`, config, each) ?? []);
  checkEachValue(request, (field, given) => {
    if (!isObject(given)) throw new ValueNotAllowedError(field, given);
    const texts = partitionValues(field, config, given).map(({ text }, column) => [
      config.partitionKey[column]!.name,
      text,
    ]);
    const isAllowed = known.some((columns) => {
      const own = new Map(texts as [string, string][]);
      return [...columns].every(([name, text]) => own.get(name) === text);
    });
    if (!isAllowed) throw new ValueNotAllowedError(field, given);
  });
}
