import { InvalidArgumentError } from '../foundation/errors';

/** Who has a hash key: an account, a tenant, whatever must keep its order and shares a shard with others. */
export interface HashKeyOwner {
  /** 1 to 256 characters. */
  owner: string;
  hashKey: bigint;
  /** The owner's traffic, relative to the others'. */
  weight: number;
}

const MAX_OWNER_CHARACTERS = 256;

/** In UTF-8 all of them are the same replacement character, and two owners would become one. */
const UNPAIRED_SURROGATE = /\p{Surrogate}/u;

/** Throws `InvalidArgumentError` unless `owner` is text of 1 to 256 characters. */
export function checkOwner(field: string, owner: unknown): void {
  if (typeof owner === 'string' && owner.length > 0 && !UNPAIRED_SURROGATE.test(owner)) {
    if ([...owner].length <= MAX_OWNER_CHARACTERS) return;
  }
  throw new InvalidArgumentError(field, owner, `text of 1 to ${MAX_OWNER_CHARACTERS} characters, well-formed Unicode`);
}
