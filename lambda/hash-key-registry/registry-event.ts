import { isObject, isRecord, isWhole } from '../../lib/core/kernel/checks';
import type { HashKeyMove, OwnerRequest } from '../../lib/core/registry/hash-key-ledger';
import { InvalidEventError } from '../invalid-event-error';

/** The requests to a registry. */
type RegistryRequest =
  | { action: 'allocate'; owners: OwnerRequest[] }
  | { action: 'get' | 'release'; owners: string[] }
  | { action: 'list'; limit: number; cursor?: string }
  | { action: 'plan' | 'rebalance'; mostMoves: number }
  | { action: 'move'; move: HashKeyMove };

/**
 * The maximum number of owners in a request. Every response is then well below Lambda's limit of 6 MB, and every
 * request needs only a few commits.
 */
const MAX_OWNERS = 1_000;

const FIELDS: Record<RegistryRequest['action'], string[]> = {
  allocate: ['owners'],
  get: ['owners'],
  release: ['owners'],
  list: ['limit', 'cursor'],
  plan: ['mostMoves'],
  rebalance: ['mostMoves'],
  move: ['owner', 'fromHashKey', 'toHashKey'],
};

const HASH_KEY_PATTERN = /^(?:0|[1-9]\d{0,38})$/;

/** Returns the request of an event. Checks everything that the core does not check. */
export function parseRegistryEvent(event: unknown): RegistryRequest {
  if (!isRecord(event)) {
    throw new InvalidEventError('event', event, 'an object with an action');
  }
  const { action, ...fields } = event as { action: RegistryRequest['action'] } & Record<string, unknown>;
  if (typeof action !== 'string' || !Object.hasOwn(FIELDS, action)) {
    throw new InvalidEventError('action', action, `one of ${Object.keys(FIELDS).join(', ')}`);
  }
  const allowed = FIELDS[action];
  for (const name of Object.keys(fields)) {
    if (!allowed.includes(name))
      throw new InvalidEventError('event', name, `an object with only action, ${allowed.join(', ')}`);
  }
  switch (action) {
    case 'allocate':
      return { action, owners: list(fields.owners).map(ownerRequest) };
    case 'get':
    case 'release':
      return { action, owners: list(fields.owners) as string[] };
    case 'list':
      return { action, limit: count('limit', fields.limit), ...cursor(fields.cursor) };
    case 'plan':
    case 'rebalance':
      return { action, mostMoves: count('mostMoves', fields.mostMoves) };
    default: {
      const fromHashKey = hashKey('fromHashKey', fields.fromHashKey);
      const toHashKey = hashKey('toHashKey', fields.toHashKey);
      return { action, move: { owner: fields.owner as string, fromHashKey, toHashKey } };
    }
  }
}

function list(owners: unknown): unknown[] {
  if (Array.isArray(owners) && owners.length > 0 && owners.length <= MAX_OWNERS) return owners;
  const got = Array.isArray(owners) ? `${owners.length} owners` : owners;
  throw new InvalidEventError('owners', got, `an array of 1 to ${MAX_OWNERS} owners`);
}

function ownerRequest(input: unknown, index: number): OwnerRequest {
  if (!isObject(input)) return { owner: input as string };
  const { owner, weight, ...rest } = input as OwnerRequest & Record<string, unknown>;
  for (const name of Object.keys(rest))
    throw new InvalidEventError(`owners[${index}]`, name, 'an object with only owner, weight');
  return { owner, ...(weight !== undefined && { weight }) };
}

function count(field: string, value: unknown): number {
  if (value === undefined) return MAX_OWNERS;
  if (isWhole(value, 1, MAX_OWNERS)) return value;
  throw new InvalidEventError(field, value, `an integer from 1 to ${MAX_OWNERS}`);
}

function cursor(value: unknown): { cursor?: string } {
  if (value === undefined) return {};
  if (typeof value === 'string') return { cursor: value };
  throw new InvalidEventError('cursor', value, 'the cursor of the previous page');
}

function hashKey(field: string, text: unknown): bigint {
  if (typeof text === 'string' && HASH_KEY_PATTERN.test(text) && BigInt(text) < 2n ** 128n) return BigInt(text);
  throw new InvalidEventError(field, text, 'a decimal integer from 0 to 2^128 - 1, as a string');
}
