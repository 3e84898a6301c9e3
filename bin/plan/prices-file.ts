import { readFileSync } from 'node:fs';
import { isRecord } from '../../lib/core/kernel/checks';
import { describeValue } from '../../lib/core/kernel/errors';
import { LIST_PRICES, type ListPrices } from '../../lib/core/planning/list-prices';
import { InvalidInputError } from '../invalid-input-error';

/** Reads the prices of the user: a JSON object with some fields of `LIST_PRICES`. */
export function pricesFile(file: string): Partial<ListPrices> {
  let prices: unknown;
  try {
    prices = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new InvalidInputError(`cannot read prices from ${file}: ${(error as Error).message}`);
  }
  // The plan names the file as the source of its prices, so the file must hold at least one.
  if (!isRecord(prices) || Object.keys(prices).every((name) => name === 'asOf')) {
    throw new InvalidInputError(`${file} must hold a JSON object of prices`);
  }
  const unknown = Object.keys(prices).find((name) => !Object.hasOwn(LIST_PRICES, name));
  if (unknown !== undefined) {
    throw new InvalidInputError(
      `${file}: unknown price ${unknown}, use some of ${Object.keys(LIST_PRICES).join(', ')}`,
    );
  }
  const { asOf = file } = prices;
  if (typeof asOf !== 'string') throw new InvalidInputError(`${file}: asOf must be a text, got ${describeValue(asOf)}`);
  return { ...prices, asOf };
}
