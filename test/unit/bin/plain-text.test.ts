import { execFileSync } from 'node:child_process';
import { cellText, columnsOf, counted, cutShort, shellWord } from '../../../bin/plain-text';
import { textTable } from '../../../bin/text-table';

test.each([
  ['', 0],
  ['abc', 3],
  ['é', 1],
  ['e\u0301', 1],
  ['注文', 4],
  ['주문', 4],
  ['👍', 2],
  ['👩‍👩‍👧', 2],
  ['（）', 4],
])('columnsOf(%j) returns %i', (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});

test.each([
  ['12345', '12345'],
  ['123456', '1234…'],
  ['注文番', '注文…'],
  ['注文', '注文'],
  ['12注文', '12注…'],
  ['👍👍👍', '👍👍…'],
])('cutShort shortens %j to %j, and does not split a character', (text, expected) => {
  expect(cutShort(text, 5)).toBe(expected);
});

test('cellText returns one short line without control characters', () => {
  expect(cellText('a\n\u001b[2J')).toBe('a\\u000a\\u001b[2J');
  expect(cellText({ a: [1] })).toBe('{"a":[1]}');
  expect(cellText('x'.repeat(100_000))).toBe(`${'x'.repeat(39)}…`);
});

test('textTable aligns columns with text of any script, and accepts 200,000 rows', () => {
  expect(
    textTable(
      ['key', 'n'],
      [
        ['注文', 1],
        ['ab', 20],
      ],
    ),
  ).toEqual(['  key    n', '  ----  --', '  注文   1', '  ab    20']);
  expect(
    textTable(
      ['n'],
      Array.from({ length: 200_000 }, () => [1]),
    ),
  ).toHaveLength(200_002);
});

test('counted() uses the singular if the count is one', () => {
  expect([counted(0, 'shard'), counted(1, 'shard'), counted(1_000, 'index', 'indexes')]).toEqual([
    '0 shards',
    '1 shard',
    '1,000 indexes',
  ]);
});

test('a shell reads shellWord() as the same text', () => {
  const texts = ['open', 'in progress', "it's", '{"a":"$HOME"}', '', 'a\\b', 'a;b', 'cdk.out'];
  expect(texts.map((text) => execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' }))).toEqual(
    texts,
  );
  expect(shellWord('cdk.out')).toBe('cdk.out');
});
