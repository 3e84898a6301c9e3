import fc from 'fast-check';

const codePoint = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

/** Strings of any code points. `fc.string({ unit: 'binary' })` returns the same strings, but takes seconds to start. */
export const anyText = (lengths: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: codePoint, ...lengths });
