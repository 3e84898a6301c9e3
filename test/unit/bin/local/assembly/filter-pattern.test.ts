import fc from 'fast-check';
import { type FilterPattern, filterPattern, matches } from '../../../../../bin/local/assembly/filter-pattern';

const USER = {
  ...{ UserID: 'Alice', Age: 30, City: 'New York', Zip: null, Name: '', Tags: ['new', 'paid'] },
  ...{ Home: { City: 'Oslo' }, Orders: [{ id: 1, state: 'OPEN' }, { id: 2 }], Empty: [], Nested: [['a'], 'b'] },
};

/** Examples of the AWS Lambda developer guide, "Filter rule syntax", and of the EventBridge user guide. */
test.each<[string, FilterPattern, boolean]>([
  ['a value', { City: ['New York'] }, true],
  ['one of several values', { City: ['Boston', 'New York'] }, true],
  ['another value', { City: ['Boston'] }, false],
  ['a text of digits', { Age: ['30'] }, false],
  ['null', { Zip: [null] }, true],
  ['null for a missing field', { Street: [null] }, false],
  ['an empty text', { Name: [''] }, true],
  ['all of several fields', { City: ['New York'], Age: [31] }, false],
  ['a value of a list', { Tags: ['paid'] }, true],
  ['a value of a list in a list', { Nested: ['a'] }, true],
  ['one of several fields', { $or: [{ City: ['Boston'] }, { Age: [30] }] }, true],
  ['one of several fields, and another field', { $or: [{ City: ['New York'] }, { Age: [30] }], Name: ['x'] }, false],
  ['one of several fields of an object', { Home: { $or: [{ City: ['Oslo'] }, { Zip: ['1'] }] } }, true],
  ['an existing field', { City: [{ exists: true }] }, true],
  ['an existing null', { Zip: [{ exists: true }] }, true],
  ['an existing object, which is no leaf', { Home: [{ exists: true }] }, false],
  ['a missing field', { Street: [{ exists: false }] }, true],
  ['a missing field that exists', { City: [{ exists: false }] }, false],
  ['a missing field that is null', { Zip: [{ exists: false }] }, false],
  ['a missing field that is an object', { Home: [{ exists: false }] }, true],
  ['a missing field that is an empty list', { Empty: [{ exists: false }] }, true],
  ['a missing field of a missing object', { Office: { City: [{ exists: false }] } }, true],
  ['a missing field of a text', { City: { Zip: [{ exists: false }] } }, true],
  ['a missing field of one object of a list', { Orders: { state: [{ exists: false }] } }, false],
  ['a missing field of all objects of a list', { Orders: { total: [{ exists: false }] } }, true],
  ['a field of an object of a list', { Orders: { id: [2] } }, true],
  ['two fields of one object of a list', { Orders: { id: [1], state: ['OPEN'] } }, true],
  ['two fields of two objects of a list', { Orders: { id: [2], state: ['OPEN'] } }, false],
  ['a beginning', { City: [{ prefix: 'New' }] }, true],
  ['a beginning in any case', { City: [{ prefix: { 'equals-ignore-case': 'NEW' } }] }, true],
  ['an end', { City: [{ suffix: 'York' }] }, true],
  ['an end in any case', { City: [{ suffix: { 'equals-ignore-case': 'YORK' } }] }, true],
  ['any case', { UserID: [{ 'equals-ignore-case': 'alice' }] }, true],
  ['any case of a part', { UserID: [{ 'equals-ignore-case': 'ali' }] }, false],
  ['anything but', { City: [{ 'anything-but': ['Boston', 'New York'] }] }, false],
  ['anything but a number', { Age: [{ 'anything-but': 31 }] }, true],
  ['anything but a value of a list', { Tags: [{ 'anything-but': 'new' }] }, true],
  ['anything but for a missing field', { Street: [{ 'anything-but': 'x' }] }, false],
  ['anything but for an object', { Home: [{ 'anything-but': 'x' }] }, false],
  ['anything but a beginning', { City: [{ 'anything-but': { prefix: 'New' } }] }, false],
  ['anything but several ends', { City: [{ 'anything-but': { suffix: ['a', 'b'] } }] }, true],
  ['anything but any case', { UserID: [{ 'anything-but': { 'equals-ignore-case': ['ALICE'] } }] }, false],
  ['a number', { Age: [{ numeric: ['=', 30.0] }] }, true],
  ['a number between', { Age: [{ numeric: ['>', 10, '<=', 30] }] }, true],
  ['a number beyond', { Age: [{ numeric: ['>', 30] }] }, false],
  ['a number that is a text', { City: [{ numeric: ['>', 0] }] }, false],
])('a filter pattern with %s matches or excludes the record, as AWS documents', (_, pattern, expected) => {
  expect(filterPattern(JSON.stringify({ data: pattern }))).toEqual({ value: { data: pattern } });
  expect(matches({ data: pattern }, { data: USER })).toBe(expected);
});

test.each([
  ['no JSON', '{'],
  ['null instead of an object', 'null'],
  ['"x" instead of an object', '{"data":"x"}'],
  ['an empty object', '{"data":{}}'],
  ['an empty list', '{"data":[]}'],
  ['a list in a list', '{"data":[["x"]]}'],
  ['$or without two patterns', '{"$or":[{"data":["x"]}]}'],
  ['{} instead of one operator', '{"data":[{}]}'],
  ['{"prefix":"x","suffix":"y"} instead of one operator', '{"data":[{"prefix":"x","suffix":"y"}]}'],
  ['wildcard', '{"data":[{"wildcard":"x*"}]}'],
  ['toString', '{"data":[{"toString":"x"}]}'],
  ['{"exists":"false"}', '{"data":[{"exists":"false"}]}'],
  ['{"prefix":1}', '{"data":[{"prefix":1}]}'],
  ['{"anything-but":["x",1]}', '{"data":[{"anything-but":["x",1]}]}'],
  ['{"anything-but":{}}', '{"data":[{"anything-but":{}}]}'],
  ['{"numeric":[">",1,">",2]}', '{"data":[{"numeric":[">",1,">",2]}]}'],
  ['{"numeric":[">",2,"<",1]}', '{"data":[{"numeric":[">",2,"<",1]}]}'],
  ['{"numeric":["=",5000000001]}', '{"data":[{"numeric":["=",5000000001]}]}'],
  ['more than 4096 characters', `{"data":["${'x'.repeat(4_100)}"]}`],
])('filterPattern returns the reason "%s" for a pattern that cannot be used', (reason, text) => {
  expect(filterPattern(text)).toEqual({ reason });
});

test('filterPattern returns a pattern or a reason for any text, and a pattern compares with any event', () => {
  const word = fc.constantFrom(
    'data',
    'a',
    '$or',
    'exists',
    'prefix',
    'anything-but',
    'numeric',
    '__proto__',
    '=',
    '<',
  );
  const scalar = fc.oneof(fc.boolean(), fc.integer(), word, fc.constant(null));
  const { node, pattern } = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 5 },
      scalar,
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(word, tie('node'), { maxKeys: 3 }),
    ),
    pattern: fc.dictionary(
      word,
      fc.oneof({ maxDepth: 3, withCrossShrink: true }, fc.array(tie('rule'), { maxLength: 2 }), tie('pattern')),
      { maxKeys: 2 },
    ),
    rule: fc.oneof(scalar, fc.record({ exists: fc.boolean() }), fc.dictionary(word, tie('node'), { maxKeys: 1 })),
  }));
  const outcomes = { patterns: 0, reasons: 0 };
  fc.assert(
    fc.property(fc.oneof(node, pattern), fc.array(node, { maxLength: 5 }), (drawn, events) => {
      const parsed = filterPattern(JSON.stringify(drawn));
      if ('reason' in parsed) outcomes.reasons += 1;
      else for (const event of [undefined, ...events]) expect([true, false]).toContain(matches(parsed.value, event));
      if ('value' in parsed) outcomes.patterns += 1;
    }),
    { numRuns: 5_000, seed: 1 },
  );
  expect(Math.min(outcomes.patterns, outcomes.reasons)).toBeGreaterThan(200);
});

test('a filter pattern compares with data of many nested lists', () => {
  const data = JSON.parse(`${'['.repeat(100_000)}1${']'.repeat(100_000)}`);
  expect(matches({ data: [1] }, { data })).toBe(true);
});
