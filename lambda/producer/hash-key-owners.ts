import type { OwnedRecord } from './record-input';

/**
 * Asks the registry for the keys of owners, in their order; null for an owner without a key. Ends when it is aborted.
 */
export type AskRegistry = (owners: string[], abortSignal: AbortSignal) => Promise<({ hashKey: string } | null)[]>;

/** The registry answers for at most so many owners at once. */
const OWNERS_PER_REQUEST = 1_000;

/**
 * How long a key is used before the registry is asked again. For so long, a moved owner's records go to the old shard.
 */
const KEY_LIFETIME_MS = 60_000;

/** If more owners are known, those whose request is oldest are forgotten. */
const MAX_OWNERS = 100_000;

/** Gives records the hash keys of their owners, and remembers them for a minute. */
export class HashKeyOwners {
  private readonly keys = new Map<string, { hashKey: bigint; untilMs: number }>();

  constructor(
    private readonly ask: AskRegistry,
    private readonly now: () => number = Date.now,
  ) {}

  /** Sets the explicit hash key of each record that has an owner. It stays absent where the owner has none. */
  async resolve(records: readonly OwnedRecord[], abortSignal: AbortSignal): Promise<void> {
    const owned = records.filter(({ hashKeyOwner }) => hashKeyOwner !== undefined);
    const owners = new Set(owned.map(({ hashKeyOwner }) => hashKeyOwner!));
    const unknown = [...owners].filter((owner) => (this.keys.get(owner)?.untilMs ?? 0) <= this.now());
    await this.askFor(unknown, abortSignal);
    for (const record of owned) record.explicitHashKey = this.keys.get(record.hashKeyOwner!)?.hashKey;
    this.forget();
  }

  private async askFor(owners: readonly string[], abortSignal: AbortSignal): Promise<void> {
    for (let start = 0; start < owners.length; start += OWNERS_PER_REQUEST) {
      const some = owners.slice(start, start + OWNERS_PER_REQUEST);
      const answers = await this.ask(some, abortSignal);
      const untilMs = this.now() + KEY_LIFETIME_MS;
      some.forEach((owner, index) => {
        const answer = answers[index];
        this.keys.delete(owner);
        if (answer) this.keys.set(owner, { hashKey: BigInt(answer.hashKey), untilMs });
      });
    }
  }

  private forget(): void {
    for (const owner of this.keys.keys()) {
      if (this.keys.size <= MAX_OWNERS) return;
      this.keys.delete(owner);
    }
  }
}
