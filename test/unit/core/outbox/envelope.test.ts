import { cloudEvents } from '../../../../lib/core/outbox/envelope';

const ROW = {
  id: 7n,
  partitionKey: 'k',
  producerId: 'p',
  type: null,
  headers: '{"tenant": "a"}',
  createdAt: new Date(0),
};
const ATTRIBUTES = {
  specversion: '1.0',
  id: 'p/7',
  source: '/shop',
  type: 'event',
  time: '1970-01-01T00:00:00.000Z',
  partitionkey: 'k',
  tenant: 'a',
};

test('cloudEvents – a row with a type and without headers – writes the type and no attributes from headers', () => {
  const row = { ...ROW, type: 'created', headers: null, data: Buffer.from('1') };
  const { tenant: _, ...attributes } = { ...ATTRIBUTES, type: 'created', datacontenttype: 'application/json', data: 1 };
  const event = Buffer.from(cloudEvents({ source: '/shop' }).dataOf(row)).toString();
  expect(JSON.parse(event)).toEqual(attributes);
});

const eventOf = (data: Uint8Array) => Buffer.from(cloudEvents({ source: '/shop' }).dataOf({ ...ROW, data })).toString();

test.each<[string, Uint8Array, string]>([
  ['JSON unchanged', Buffer.from('{"n":1.0}'), '"datacontenttype":"application/json","data":{"n":1.0}'],
  ['other text as a string', Buffer.from('{"n'), '"datacontenttype":"text/plain","data":"{\\"n"'],
  ['text with a byte order mark', Buffer.from('\ufeffa'), '"datacontenttype":"text/plain","data":"\ufeffa"'],
  ['binary data as base64', Buffer.of(0xff), '"datacontenttype":"application/octet-stream","data_base64":"/w=="'],
])('cloudEvents writes %s', (_, data, members) => {
  expect(eventOf(data)).toBe(`${JSON.stringify(ATTRIBUTES).slice(0, -1)},${members}}`);
});
