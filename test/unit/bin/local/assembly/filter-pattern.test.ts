import { type FilterPattern, filterProblem, matches } from '../../../../../bin/local/assembly/filter-pattern';

/** The examples of the AWS Lambda developer guide, "Filter rule syntax". */
const USER = { UserID: 'Alice', Age: 30, City: 'New York', Zip: null, Tags: ['new', 'paid'] };

test.each<[string, FilterPattern, boolean]>([
  ['a value', { City: ['New York'] }, true],
  ['one of several values', { City: ['Boston', 'New York'] }, true],
  ['another value', { City: ['Boston'] }, false],
  ['null', { Zip: [null] }, true],
  ['all of several fields', { City: ['New York'], Age: [31] }, false],
  ['a value of a list', { Tags: ['paid'] }, true],
  ['an existing field', { City: [{ exists: true }] }, true],
  ['a missing field', { Street: [{ exists: false }] }, true],
  ['a beginning', { City: [{ prefix: 'New' }] }, true],
  ['an end', { City: [{ suffix: 'York' }] }, true],
  ['any case', { UserID: [{ 'equals-ignore-case': 'alice' }] }, true],
  ['anything but', { City: [{ 'anything-but': ['Boston', 'New York'] }] }, false],
  ['a number between', { Age: [{ numeric: ['>', 10, '<=', 30] }] }, true],
  ['a number beyond', { Age: [{ numeric: ['>', 30] }] }, false],
  ['a number that is a text', { City: [{ numeric: ['>', 0] }] }, false],
])('a filter pattern with %s matches or excludes the record, as Lambda documents', (_, pattern, expected) => {
  expect(matches({ data: pattern }, { data: USER })).toBe(expected);
});

test('a filter pattern treats data that is not JSON as data without fields', () => {
  expect(matches({ data: { City: [{ exists: false }] } }, { data: undefined })).toBe(false);
});

test('filterProblem names an operator that is not supported', () => {
  expect(filterProblem({ data: { City: [{ wildcard: 'New*' }] } })).toBe('wildcard');
  expect(filterProblem({ data: { $or: [{ a: [1] }] as never } })).toBe('$or');
  expect(filterProblem({ City: [{ 'anything-but': [{ prefix: 'New' }] }] })).toBe('anything-but');
  expect(filterProblem({ data: { City: ['x', { numeric: ['>', 1] }] } })).toBeUndefined();
});
