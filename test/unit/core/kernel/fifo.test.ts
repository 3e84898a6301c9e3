import fc from 'fast-check';
import { Fifo } from '../../../../lib/core/kernel/fifo';

test('a queue gives back what came in, in the order in which it came', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(), { nil: 'shift' as const }), { maxLength: 60 }), (steps) => {
      const fifo = new Fifo<number>();
      const expected: number[] = [];
      for (const step of steps) {
        if (step === 'shift') expect(fifo.shift()).toBe(expected.shift());
        else {
          fifo.push(step);
          expected.push(step);
        }
        expect(fifo).toHaveLength(expected.length);
        expect(fifo.head).toBe(expected[0]);
      }
    }),
  );
});
