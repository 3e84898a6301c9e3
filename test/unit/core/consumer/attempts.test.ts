import { UnendedAttempts } from '../../../../lib/core/consumer/attempts';

test('an attempt is waited for until it ends, and the last of its key alone', async () => {
  const unended = new UnendedAttempts();
  const ends: (() => void)[] = [];
  const running = () => new Promise<void>((resolve) => ends.push(resolve));
  const [first, second, other] = [running(), running(), running()];
  unended.add('k', first);
  unended.add('k', second);
  unended.add('other', other);
  ends[0]!();
  await first;
  expect([unended.of('k'), unended.of('other')]).toEqual([second, other]);
  ends[1]!();
  await second;
  expect([unended.of('k'), unended.of('other')]).toEqual([undefined, other]);
});
