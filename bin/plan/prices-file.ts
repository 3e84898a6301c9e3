import { readFileSync } from 'node:fs';
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
  if (typeof prices !== 'object' || prices === null || Array.isArray(prices)) {
    throw new InvalidInputError(`${file} must hold a JSON object of prices`);
  }
  const unknown = Object.keys(prices).find((name) => !Object.hasOwn(LIST_PRICES, name));
  if (unknown !== undefined) {
    throw new InvalidInputError(
      `${file}: unknown price ${unknown}, use some of ${Object.keys(LIST_PRICES).join(', ')}`,
    );
  }
  return { asOf: file, ...prices };
}
