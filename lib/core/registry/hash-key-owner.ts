import { InvalidArgumentError } from '../kernel/errors';

/** An owner of a hash key: for example an account or a tenant, whose records must keep their order within one shard. */
export interface HashKeyOwner {
  /** The name of the owner, of 1 to 256 characters. */
  owner: string;
  /** The explicit hash key for the owner's records, from 0 to 2^128 - 1. */
  hashKey: bigint;
  /** The owner's traffic relative to other owners, from 1e-9 to 2^53 - 1. */
  weight: number;
}

const MAX_OWNER_CHARACTERS = 256;

/** In UTF-8, every unpaired surrogate becomes the same replacement character, so two names could become equal. */
const UNPAIRED_SURROGATE = /\p{Surrogate}/u;

/** @throws InvalidArgumentError unless `owner` is text of 1 to 256 characters */
export function checkOwner(field: string, owner: unknown): void {
  // A character has one or two UTF-16 code units. The length check comes first because it is fast even for a text of several
  // megabytes.
  if (typeof owner === 'string' && owner.length > 0 && owner.length <= 2 * MAX_OWNER_CHARACTERS) {
    if (!UNPAIRED_SURROGATE.test(owner) && [...owner].length <= MAX_OWNER_CHARACTERS) return;
  }
  throw new InvalidArgumentError(
    field,
    owner,
    `a string of 1 to ${MAX_OWNER_CHARACTERS} characters in well-formed Unicode`,
  );
}
