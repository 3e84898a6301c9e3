import fc from 'fast-check';
import { sealedText, unsealedValue } from '../../../../lib/core/kernel/sealed-text';
import { randomRuns } from '../../../support/random-runs';

const jsonValues = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));

const anything = (value: unknown) => value;

test('a sealed text gives its value back to what it belongs to, and to nothing else', () => {
  fc.assert(
    fc.property(jsonValues, jsonValues, jsonValues, (value, query, other) => {
      const text = sealedText(query, value);
      expect(unsealedValue(query, text, anything)).toEqual(value);
      fc.pre(JSON.stringify(other) !== JSON.stringify(query));
      expect(unsealedValue(other, text, anything)).toBeUndefined();
    }),
    { numRuns: randomRuns(100) },
  );
});

test('a sealed text that was altered at any character gives nothing, nor does what is no text', () => {
  const text = sealedText('a query', ['a key']);
  const altered = [...text].map(
    (character, at) => text.slice(0, at) + (character === 'A' ? 'B' : 'A') + text.slice(at + 1),
  );
  const noText = [7, null, undefined, {}, [text], { toString: 1 }, Object.create(null), Symbol('a text')];
  for (const each of [...altered, `${text}=`, ` ${text}`, text.slice(1), '', ...noText]) {
    expect(unsealedValue('a query', each, anything)).toBeUndefined();
  }
});

test('a sealed text of another shape gives nothing', () => {
  const failing = () => {
    throw new TypeError('not the shape');
  };
  expect(unsealedValue('a query', sealedText('a query', 1), failing)).toBeUndefined();
});

test('golden: a text that a caller has kept is read again after an update of the library', () => {
  expect(sealedText('a query', ['a key'])).toBe('zP621DRA2LyrbNVac94q0lsiYSBrZXkiXQ');
});
