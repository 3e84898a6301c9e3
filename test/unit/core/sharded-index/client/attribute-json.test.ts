import type { DynamoDbItem } from '../../../../../lib/core';
import { itemFromJson, itemToJson } from '../../../../../lib/core/sharded-index/client/attribute-json';

const ITEM: DynamoDbItem = {
  text: { S: 'a' },
  yes: { BOOL: true },
  nothing: { NULL: true },
  bytes: { B: Uint8Array.of(255, 0) },
  texts: { SS: ['a', 'b'] },
  numbers: { NS: ['1', '9007199254740993'] },
  binaries: { BS: [Uint8Array.of(1)] },
  list: { L: [{ N: '1.5' }, { M: { inner: { B: Uint8Array.of(2) } } }] },
};

const JSON_TEXT = JSON.stringify({
  ...ITEM,
  bytes: { B: '/wA=' },
  binaries: { BS: ['AQ=='] },
  list: { L: [{ N: '1.5' }, { M: { inner: { B: 'Ag==' } } }] },
});

test('an item is sent with its types, binary in base64', () => {
  expect(JSON.stringify(itemToJson(ITEM))).toBe(JSON_TEXT);
});

test('an item that was sent has its bytes back', () => {
  expect(itemFromJson(JSON.parse(JSON_TEXT))).toEqual(ITEM);
});

test('bytes are those that a view shows, not those behind it', () => {
  const view = Uint8Array.of(1, 2, 3, 4).subarray(1, 3);
  expect(itemToJson({ bytes: { B: view } })).toEqual({ bytes: { B: 'AgM=' } });
});
