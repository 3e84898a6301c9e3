import { type EvenShardsError, HashKeyLedger, type RegistryStore, uniformRanges } from '../../../lib/core';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { FakeRegistryTable, type RandomSchedule } from '../fakes/fake-registry-store';

/** Ledgers that allocate on one store at once, each for several callers. */
interface Contention {
  ledgers: number;
  /** Callers of each ledger, each of which waits for its answer before it asks again. */
  callers: number;
  /** Calls of each caller, each for one new owner. */
  calls: number;
  requestMs: number;
  /** The share of commits that are written and refused all the same: the answer was lost, and the SDK sent the write again. */
  lostAnswers: number;
}

interface ContentionOutcome {
  owners: number;
  /** Different keys that were given to them. */
  keys: number;
  commits: number;
  requests: number;
  seconds: number;
  /** How many calls failed, by the code of the error. */
  failures: Readonly<Record<string, number>>;
}

/** Plays the calls on a virtual clock: the outcome depends on nothing but the seed. */
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
  let requests = 0;
  const pause = (): Promise<void> => clock.sleep(requestMs / 2);
  const counted = <T>(request: Promise<T>): Promise<T> => {
    requests += 1;
    return request;
  };
  const store = (): RegistryStore => {
    const inner = table.store({ pause, random } as unknown as RandomSchedule, 0);
    return {
      readHead: () => counted(inner.readHead()),
      readEntry: (owner) => counted(inner.readEntry(owner)),
      // A page of a scan holds thousands of entries.
      readEntries: () =>
        counted(
          pause()
            .then(() => [...table.entries.values()])
            .finally(pause),
        ),
      writeEntry: (entry) => counted(inner.writeEntry(entry)),
      writeHead: async (head, expected) => {
        const isWritten = await counted(inner.writeHead(head, expected));
        return isWritten === true && random() < lostAnswers ? counted(inner.writeHead(head, expected)) : isWritten;
      },
    };
  };
  const call = async (ledger: HashKeyLedger, owner: string): Promise<void> => {
    try {
      const [allocated] = await ledger.allocate([{ owner }], uniformRanges(16));
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
  return {
    owners: ledgers * callers * calls,
    keys: keys.size,
    commits: table.heads.length,
    requests,
    seconds: clock.nowMs / 1_000,
    failures,
  };
}

const CROWDS = [
  [1, 1, 32],
  [1, 32, 32],
  [1, 500, 1],
  [2, 1, 32],
  [4, 1, 32],
  [8, 1, 32],
  [32, 1, 32],
  [4, 8, 32],
  [128, 1, 4],
] as const;

/** A row of the table for each crowd, at 5 ms a request, and with the requests that 5 % lost answers take. */
export async function contentionRows(): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [ledgers, callers, calls] of CROWDS) {
    const crowd = { ledgers, callers, calls, requestMs: 5 };
    const calm = await contend({ ...crowd, lostAnswers: 0 });
    const lossy = await contend({ ...crowd, lostAnswers: 0.05 });
    const failed = [calm, lossy]
      .flatMap(({ failures }) => Object.values(failures))
      .reduce((sum, count) => sum + count, 0);
    const numbers = [ledgers, callers, calm.owners, calm.commits, calm.requests].map((count) =>
      count.toLocaleString('en-US'),
    );
    rows.push([...numbers, `${calm.seconds.toFixed(1)} s`, `${lossy.seconds.toFixed(1)} s`, String(failed)]);
  }
  return rows;
}
