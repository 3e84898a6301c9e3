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

/** Ledgers on one store, like the execution environments of a function. Each call allocates a hash key for one new owner. */
describe('ledgers that allocate in parallel', () => {
  const crowds = [
    { ledgers: 64, calls: 6 },
    { ledgers: 32, calls: 6 },
    { ledgers: 128, calls: 4 },
  ];
  const waits = [0, 5].flatMap((requestMs) => [0, 0.05].map((lostAnswers) => ({ requestMs, lostAnswers })));
  test.each(crowds.flatMap((crowd) => waits.map((wait) => ({ callers: 1, ...crowd, ...wait }))))(
    'complete every call, give each owner a different key, and put the same number of owners into each shard: %j',
    async (contention) => {
      const { owners, ...outcome } = await contend(contention);
      expect(outcome).toMatchObject({ failures: {}, commits: owners, keys: owners, fullest: owners / 16 });
    },
  );

  test('combine the calls of several callers in one commit, and allocate 1,024 owners of 32 callers in less than 2 seconds', async () => {
    const outcome = await contend({ ledgers: 1, callers: 32, calls: 32, requestMs: 5, lostAnswers: 0 });
    expect(outcome).toMatchObject({ owners: 1_024, keys: 1_024, commits: 32, failures: {} });
    expect(outcome.seconds).toBeLessThan(2);
  });
});

/** Runs the calls on a virtual clock. The outcome depends only on the seed. */
async function contend({ ledgers, callers, calls, requestMs, lostAnswers }: Contention): Promise<ContentionOutcome> {
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
