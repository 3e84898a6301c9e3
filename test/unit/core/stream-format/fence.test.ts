import { fenceData, parseFence } from '../../../../lib/core/stream-format/fence';

describe('parseFence', () => {
  const fenceLike = (text: string) => Buffer.from(`\0even-shards-fence\0${text}`);

  test('returns the fence that handOver writes', () => {
    expect(parseFence(fenceData({ moveId: 'm', side: 'end' }))).toEqual({ moveId: 'm', side: 'end' });
  });

  test.each(['', 'null', '{}', '{"moveId":"m","side":"middle"}'])(
    'returns undefined for data that consist of the prefix of a fence and %j',
    (text) => {
      expect(parseFence(fenceLike(text))).toBeUndefined();
    },
  );

  test('returns undefined for data with a different byte in the prefix', () => {
    const data = Buffer.from(fenceData({ moveId: 'm', side: 'end' }));
    for (const at of [0, 1, 18]) {
      expect(parseFence(data.map((byte, index) => (index === at ? byte + 1 : byte)))).toBeUndefined();
    }
  });

  test('returns undefined for an id that is too long for a table key', () => {
    expect(parseFence(fenceLike(JSON.stringify({ moveId: 'm'.repeat(65), side: 'end' })))).toBeUndefined();
  });
});
