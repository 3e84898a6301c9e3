import { isObject } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import { RegistryStoreError } from './registry-errors';
import type { RegistryStore } from './registry-store';

const METHODS = ['readHead', 'writeHead', 'readEntry', 'readEntries', 'writeEntry'] as const;

const RESULTS: Partial<Record<(typeof METHODS)[number], { expected: string; isValid(result: unknown): boolean }>> = {
  readHead: { expected: 'a head or undefined', isValid: (result) => result === undefined || isObject(result) },
  writeHead: {
    expected: 'true, false or a head',
    isValid: (result) => typeof result === 'boolean' || isObject(result),
  },
  readEntry: { expected: 'an entry or undefined', isValid: (result) => result === undefined || isObject(result) },
  readEntries: {
    expected: 'an array of entries',
    isValid: (result) => Array.isArray(result) && result.every(isObject),
  },
};

/**
 * Wraps a store, which a user may have written: checks its results, and turns each failure into an `Error`.
 *
 * @throws InvalidArgumentError if the store lacks a method
 */
export function checkedStore(store: RegistryStore): RegistryStore {
  const methods: Partial<Record<string, unknown>> = Object(store);
  if (!METHODS.every((name) => typeof methods[name] === 'function')) {
    throw new InvalidArgumentError('store', store, `a registry store, with ${METHODS.join(', ')}`);
  }
  return {
    readHead: () => checked('readHead', () => store.readHead()),
    writeHead: (head, expected) => checked('writeHead', () => store.writeHead(head, expected)),
    readEntry: (owner) => checked('readEntry', () => store.readEntry(owner)),
    readEntries: () => checked('readEntries', () => store.readEntries()),
    writeEntry: (entry) => checked('writeEntry', () => store.writeEntry(entry)),
  };
}

async function checked<T>(name: (typeof METHODS)[number], request: () => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await request();
  } catch (error) {
    throw error instanceof Error ? error : new RegistryStoreError(name, error);
  }
  const rule = RESULTS[name];
  if (rule !== undefined && !rule.isValid(result)) throw new IncompleteAnswerError(name, rule.expected);
  return result;
}
