import { KeyRanges } from '../../../../lib/core/outbox/key-ranges';
import { fakeStatements } from '../../../support/postgres/outbox-statements';

const TAKEN = {
  first_bucket: 0,
  last_bucket: 7,
  fence: '3',
  producer_id: 'p',
  batch_from: '3:3:',
  batch_to: null,
  after_id: '0',
};
const FREE = [1, 2, 3].map((number) => ({ number, lock: number }));

/** An outbox with three free ranges. Some cannot be locked, or are gone when they are taken over. */
function outboxWith({ lockable = [1, 2, 3, 65], gone = [0], replaced = [] as object[], isKnown = true }) {
  const { statements, valuesOf } = fakeStatements({
    findFreeRanges: FREE,
    lockRange: ([lock]) => [{ isClaimed: lockable.includes(lock as number) }],
    replaceLock: replaced,
    recognizeDatabase: [{ isKnown }],
    takeOverRange: ([number]) => (gone.includes(number as number) ? [] : [TAKEN]),
  });
  return { keyRanges: new KeyRanges(statements), valuesOf };
}

test.each<[string, object, object | undefined, unknown[]]>([
  ['a free range – takes it', {}, { number: 1, lock: 1, fence: '3', producerId: 'p' }, []],
  ['another worker holds the lock – takes the next range', { lockable: [2, 3] }, { number: 2, lock: 2 }, []],
  [
    'a session that may not relay holds the lock – gives the range another lock',
    { lockable: [65], replaced: [{ lock: 65 }] },
    { number: 1, lock: 65 },
    [],
  ],
  ['the range is gone meanwhile – releases its lock and takes the next range', { gone: [1] }, { number: 2 }, [[1]]],
  ['every lock is held – takes no range', { lockable: [] }, undefined, []],
])('KeyRanges.claim – %s', async (_, state, range, released) => {
  const { keyRanges, valuesOf } = outboxWith(state);
  const claimed = await keyRanges.claim([]);
  if (range === undefined) expect(claimed).toBeUndefined();
  else expect(claimed).toMatchObject(range);
  expect(valuesOf('unlockRange')).toEqual(released);
});

test('KeyRanges.claim – the database was restored – tells what to call, and releases the lock', async () => {
  const { keyRanges, valuesOf } = outboxWith({ isKnown: false });
  const message = expect.stringMatching(/it was restored: call outbox\.restored\(\) before the relay starts$/);
  await expect(keyRanges.claim([])).rejects.toMatchObject({ code: 'OUTBOX_RESTORED', message });
  expect(valuesOf('unlockRange')).toEqual([[1]]);
});
