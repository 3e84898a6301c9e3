import { chunks } from '../../lib/core/kernel/chunks';
import { RecentMap } from '../../lib/core/kernel/recent-map';
import { OwnerKeyError } from './owner-key-error';
import type { OwnedRecord } from './record-input';

/** The hash key of an owner, null for an owner without a key, or the error of the request. */
export type OwnerKey = bigint | null | OwnerKeyError;

/** Requests the keys of owners from the registry. Returns them in the order of the owners. Ends when the signal aborts. */
export type RequestKeys = (owners: string[], abortSignal: AbortSignal) => Promise<OwnerKey[]>;

/** The maximum number of owners in a request to the registry. */
const OWNERS_PER_REQUEST = 1_000;

/** The lifetime of a key in the cache. For this time, records of a moved owner can go to the old shard. */
const KEY_LIFETIME_MS = 60_000;

/**
 * The maximum number of owners in the cache. If there are more owners, the cache removes the owners with the oldest
 * requests.
 */
const MAX_OWNERS = 100_000;

/** A time on two clocks, in milliseconds. */
interface Moment {
  /** The time of a clock that never goes back. It may stop while Lambda freezes the execution environment. */
  monotonicMs: number;
  /** The time of day. The system can set it back or forward. */
  timeOfDayMs: number;
}

const now = (): Moment => ({ monotonicMs: performance.now(), timeOfDayMs: Date.now() });

/** Sets the hash keys of records by their owners, and caches the keys for a minute. */
export class HashKeyOwners {
  private readonly keys = new RecentMap<string, { hashKey: bigint; requestedAt: Moment }>(MAX_OWNERS);

  constructor(
    private readonly request: RequestKeys,
    private readonly clocks: () => Moment = now,
  ) {}

  /**
   * Sets the explicit hash key of each record with an owner. The hash key stays absent if the owner has no key. If the
   * request to the registry fails, sets `ownerKeyError` instead.
   */
  async resolve(records: readonly OwnedRecord[], abortSignal: AbortSignal): Promise<void> {
    const owned = records.filter(({ hashKeyOwner }) => hashKeyOwner !== undefined);
    const keys = new Map<string, OwnerKey>();
    const unknown = new Set<string>();
    for (const { hashKeyOwner } of owned) {
      const known = this.freshKey(hashKeyOwner!);
      if (known === undefined) unknown.add(hashKeyOwner!);
      else keys.set(hashKeyOwner!, known);
    }
    for (const [owner, hashKey] of await this.requestKeys([...unknown], abortSignal)) keys.set(owner, hashKey);
    for (const record of owned) {
      const key = keys.get(record.hashKeyOwner!);
      if (key instanceof OwnerKeyError) record.ownerKeyError = key;
      else record.explicitHashKey = key ?? undefined;
    }
  }

  /** The cached key of an owner, unless the key is too old according to one of the clocks. */
  private freshKey(owner: string): bigint | undefined {
    const known = this.keys.get(owner);
    if (known === undefined) return undefined;
    const { monotonicMs, timeOfDayMs } = this.clocks();
    const ageMs = Math.max(monotonicMs - known.requestedAt.monotonicMs, timeOfDayMs - known.requestedAt.timeOfDayMs);
    return ageMs < KEY_LIFETIME_MS ? known.hashKey : undefined;
  }

  private async requestKeys(
    owners: readonly string[],
    abortSignal: AbortSignal,
  ): Promise<ReadonlyMap<string, OwnerKey>> {
    const received = new Map<string, OwnerKey>();
    for (const some of chunks(owners, OWNERS_PER_REQUEST)) {
      const requestedAt = this.clocks();
      const answers = await this.request(some, abortSignal);
      some.forEach((owner, index) => {
        const answer = answers[index]!;
        received.set(owner, answer);
        if (typeof answer === 'bigint') this.keys.set(owner, { hashKey: answer, requestedAt });
        else this.keys.delete(owner);
      });
    }
    return received;
  }
}
