import { RecentMap } from '../../lib/core/kernel/recent-map';
import { OwnerKeyError } from './owner-key-error';
import type { OwnedRecord } from './record-input';

/** The hash key of an owner, null for an owner without one, or why nobody knows. */
export type OwnerKey = bigint | null | OwnerKeyError;

/** Asks the registry for the keys of owners, in their order. Ends when it is aborted. */
export type AskRegistry = (owners: string[], abortSignal: AbortSignal) => Promise<OwnerKey[]>;

/** The registry answers for at most so many owners at once. */
const OWNERS_PER_REQUEST = 1_000;

/**
 * How long a key is used before the registry is asked again. For so long, a moved owner's records go to the old shard.
 */
const KEY_LIFETIME_MS = 60_000;

/** If more owners are known, those whose request is oldest are forgotten. */
const MAX_OWNERS = 100_000;

/** A moment by two clocks, in milliseconds. */
interface Moment {
  /** By a clock that never goes back, and that may stand still while the function is frozen. */
  monotonicMs: number;
  /** By the time of day, which may be set. */
  timeOfDayMs: number;
}

const now = (): Moment => ({ monotonicMs: performance.now(), timeOfDayMs: Date.now() });

/** Gives records the hash keys of their owners, and remembers them for a minute. */
export class HashKeyOwners {
  private readonly keys = new RecentMap<string, { hashKey: bigint; askedAt: Moment }>(MAX_OWNERS);

  constructor(
    private readonly ask: AskRegistry,
    private readonly clocks: () => Moment = now,
  ) {}

  /**
   * Sets the explicit hash key of each record that has an owner. It stays absent where the owner has none, and where nobody
   * knows, which `ownerKeyError` then says.
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
    for (const [owner, hashKey] of await this.askFor([...unknown], abortSignal)) keys.set(owner, hashKey);
    for (const record of owned) {
      const key = keys.get(record.hashKeyOwner!);
      if (key instanceof OwnerKeyError) record.ownerKeyError = key;
      else record.explicitHashKey = key ?? undefined;
    }
  }

  /** The owner's key, unless it was asked for too long ago by the clock that says more. */
  private freshKey(owner: string): bigint | undefined {
    const known = this.keys.get(owner);
    if (known === undefined) return undefined;
    const { monotonicMs, timeOfDayMs } = this.clocks();
    const ageMs = Math.max(monotonicMs - known.askedAt.monotonicMs, timeOfDayMs - known.askedAt.timeOfDayMs);
    return ageMs < KEY_LIFETIME_MS ? known.hashKey : undefined;
  }

  private async askFor(owners: readonly string[], abortSignal: AbortSignal): Promise<ReadonlyMap<string, OwnerKey>> {
    const answered = new Map<string, OwnerKey>();
    for (let start = 0; start < owners.length; start += OWNERS_PER_REQUEST) {
      const some = owners.slice(start, start + OWNERS_PER_REQUEST);
      const askedAt = this.clocks();
      const answers = await this.ask(some, abortSignal);
      some.forEach((owner, index) => {
        const answer = answers[index]!;
        answered.set(owner, answer);
        if (typeof answer === 'bigint') this.keys.set(owner, { hashKey: answer, askedAt });
        else this.keys.delete(owner);
      });
    }
    return answered;
  }
}
