import {
  type EvenShardsError,
  HashKeyLedger,
  type RegistryStore,
  shardIndexOf,
  uniformRanges,
} from '../../../../lib/core';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { FakeRegistryTable, type RandomSchedule } from '../../../support/fakes/fake-registry-store';

/** Several ledgers that allocate hash keys in parallel in one store. Each ledger has several callers. */
interface Contention {
  ledgers: number;
  /** The number of callers of each ledger. A caller waits for its response before its next call. */
  callers: number;
  /** The number of calls of each caller. Each call allocates one new owner. */
  calls: number;
  requestMs: number;
  /** The share of commits that are written but rejected, because the response was lost and the SDK sent the write again. */
  lostAnswers: number;
}

interface ContentionOutcome {
  owners: number;
  /** The number of different keys of the owners. */
  keys: number;
  commits: number;
  /** The number of owners in the shard with the most owners. */
  fullest: number;
  seconds: number;
  /** The number of failed calls for each error code. */
  failures: Readonly<Record<string, number>>;
}

const RANGES = uniformRanges(16);

/** Runs the calls on a virtual clock. The outcome depends only on the seed. */
export async function contend({
  ledgers,
  callers,
  calls,
  requestMs,
  lostAnswers,
}: Contention): Promise<ContentionOutcome> {
  const clock = new VirtualClock();
  const random = seededRandom(ledgers * 1_000 + callers);
  const table = new FakeRegistryTable();
  const keys = new Set<bigint>();
  const failures: Record<string, number> = {};
  const pause = (): Promise<void> => clock.sleep(requestMs / 2);
  const store = (): RegistryStore => {
    const inner = table.store({ pause, random } as unknown as RandomSchedule, 0);
    return {
      ...inner,
      // One page of a scan contains thousands of entries, so a scan takes one request.
      readEntries: () =>
        pause()
          .then(() => [...table.entries.values()])
          .finally(pause),
      writeHead: async (head, expected) => {
        const isWritten = await inner.writeHead(head, expected);
        return isWritten === true && random() < lostAnswers ? inner.writeHead(head, expected) : isWritten;
      },
    };
  };
  const call = async (ledger: HashKeyLedger, owner: string): Promise<void> => {
    try {
      const [allocated] = await ledger.allocate([{ owner }], RANGES);
      keys.add(allocated!.hashKey);
    } catch (error) {
      const { code } = error as EvenShardsError;
      failures[code] = (failures[code] ?? 0) + 1;
    }
  };
  const work = Array.from({ length: ledgers }, (_, process) => {
    const ledger = new HashKeyLedger(store(), { clock, random });
    return Array.from({ length: callers }, async (_, caller) => {
      for (let number = 0; number < calls; number++) await call(ledger, `owner-${process}-${caller}-${number}`);
    });
  });
  await clock.runUntil(Promise.all(work.flat()));
  const perShard = new Array<number>(RANGES.length).fill(0);
  for (const key of keys) perShard[shardIndexOf(key, RANGES)]! += 1;
  return {
    owners: ledgers * callers * calls,
    keys: keys.size,
    commits: table.heads.length,
    fullest: Math.max(...perShard),
    seconds: clock.nowMs / 1_000,
    failures,
  };
}
