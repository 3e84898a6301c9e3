import fc from 'fast-check';
import { BinaryHeap } from '../../../../lib/core/fan-out/binary-heap';

interface Element {
  key: number;
}

const keys = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 30 });

test('a heap has the least of its elements on top, while elements come, change and leave', () => {
  fc.assert(
    fc.property(keys, keys, keys, (first, added, changed) => {
      const heap = new BinaryHeap<Element>(
        (a, b) => a.key - b.key,
        first.map((key) => ({ key })),
      );
      for (const key of added) heap.add({ key });
      let expected = [...first, ...added].sort((a, b) => a - b);
      for (const key of expected.length > 0 ? changed : []) {
        heap.top!.key = key;
        heap.topChanged();
        expected = [key, ...expected.slice(1)].sort((a, b) => a - b);
      }
      for (const [index, key] of expected.entries()) {
        expect(heap).toMatchObject({ size: expected.length - index, top: { key } });
        heap.removeTop();
      }
      heap.removeTop();
      expect(heap).toMatchObject({ size: 0, top: undefined });
    }),
  );
});
