import fc from 'fast-check';
import type { RecordSequence } from '../../../../lib/core';
import { anyText } from '../../../support/any-text';

/** A random sequence of a record. The sequence numbers are often consecutive, as the numbers from one producer are. */
export const anySequence: fc.Arbitrary<RecordSequence> = fc.record({
  producerId: fc.oneof(fc.constantFrom('p', 'q'), anyText({ minLength: 1, maxLength: 20 })),
  sequenceNumber: fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.bigInt({ min: 0n, max: 10n ** 40n - 1n })),
});
