import { isObject } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import { RegistryStoreError } from './registry-errors';
import type { RegistryStore } from './registry-store';

const METHODS = ['readHead', 'writeHead', 'readEntry', 'readEntries', 'writeEntry'] as const;

/** What the answers of the methods must be. */
const ANSWERS: Partial<Record<(typeof METHODS)[number], { words: string; fits(answer: unknown): boolean }>> = {
  readHead: { words: 'a head, or be undefined', fits: (answer) => answer === undefined || isObject(answer) },
  writeHead: { words: 'true, false or a head', fits: (answer) => typeof answer === 'boolean' || isObject(answer) },
  readEntry: { words: 'an entry, or be undefined', fits: (answer) => answer === undefined || isObject(answer) },
  readEntries: { words: 'an array of entries', fits: (answer) => Array.isArray(answer) && answer.every(isObject) },
};

/**
 * A store whose answers are checked, and whose failures are errors. Users may write stores of their own.
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
  let answer: T;
  try {
    answer = await request();
  } catch (error) {
    throw error instanceof Error ? error : new RegistryStoreError(name, error);
  }
  const expected = ANSWERS[name];
  if (expected !== undefined && !expected.fits(answer)) throw new IncompleteAnswerError(name, expected.words);
  return answer;
}
