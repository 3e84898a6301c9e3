import { Slots } from '../../../../lib/core/consumer/slots';

test('as many work at once as there are slots, and who has waited the longest is next', async () => {
  const slots = new Slots(1);
  const begun: string[] = [];
  const begin = async (names: string) => {
    for (const name of names) slots.take(() => begun.push(name));
    await Promise.resolve();
    return begun.join('');
  };
  expect(await begin('a')).toBe('a');
  slots.give();
  expect(await begin('bcd')).toBe('ab');
  slots.give();
  expect(await begin('')).toBe('abc');
});
