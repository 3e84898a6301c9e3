import { parseRegistryEvent } from '../../../../lambda/hash-key-registry/registry-event';
import { InvalidEventError } from '../../../../lambda/invalid-event-error';

describe('parseRegistryEvent', () => {
  test.each([
    [
      { action: 'allocate', owners: ['a', { owner: 'b', weight: 3 }] },
      { owners: [{ owner: 'a' }, { owner: 'b', weight: 3 }] },
    ],
    [{ action: 'get', owners: ['a'] }, { owners: ['a'] }],
    [{ action: 'release', owners: ['a'] }, { owners: ['a'] }],
    [{ action: 'list' }, { limit: 1000 }],
    [
      { action: 'list', limit: 5, cursor: 'a' },
      { limit: 5, cursor: 'a' },
    ],
    [{ action: 'plan' }, { mostMoves: 1000 }],
    [{ action: 'rebalance', mostMoves: 1 }, { mostMoves: 1 }],
    [
      { action: 'move', owner: 'a', fromHashKey: '0', toHashKey: '340282366920938463463374607431768211455' },
      { move: { owner: 'a', fromHashKey: 0n, toHashKey: 2n ** 128n - 1n } },
    ],
  ])('parses %p', (event, request) => {
    expect(parseRegistryEvent(event)).toEqual({ action: event.action, ...request });
  });

  const move = { action: 'move', owner: 'a', fromHashKey: '0', toHashKey: '1' };
  test.each([
    ['allocate', 'event must be an object with an action'],
    [null, 'event must be an object with an action'],
    [{ owners: ['a'] }, 'action must be one of allocate, get, release, list, plan, rebalance, move, got undefined'],
    [{ action: 'allocate' }, 'owners must be an array of 1 to 1000 owners'],
    [{ action: 'get', owners: new Array(1001).fill('a') }, 'owners must be an array of 1 to 1000 owners'],
    [{ action: 'get', owners: ['a'], weight: 1 }, 'event must be an object with only action, owners, got "weight"'],
    [
      { action: 'allocate', owners: [{ owner: 'a', hashKey: '1' }] },
      'owners[0] must be an object with only owner, weight',
    ],
    [{ action: 'list', limit: 0 }, 'limit must be an integer from 1 to 1000, got 0'],
    [{ action: 'list', cursor: 5 }, 'cursor must be the cursor of the previous page, got 5'],
    [{ action: 'plan', mostMoves: 1.5 }, 'mostMoves must be an integer from 1 to 1000, got 1.5'],
    [{ ...move, toHashKey: '340282366920938463463374607431768211456' }, 'toHashKey must be a decimal integer'],
  ])('rejects %j', (event, message) => {
    expect(() => parseRegistryEvent(event)).toThrow(InvalidEventError);
    expect(() => parseRegistryEvent(event)).toThrow(message);
  });
});
