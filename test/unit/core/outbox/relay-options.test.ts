import { readFileSync } from 'node:fs';
import { type OutboxRelayOptions, relaySettings } from '../../../../lib/core/outbox/relay-options';

const documented = [
  ...readFileSync('lib/core/outbox/relay-options.ts', 'utf8').matchAll(/@default (\d+).*\n\s+\*\/\s+(\w+)\?: number/g),
].map(([, value, name]) => ({ name: name as 'retryMs', value: Number(value) }));

test.each(documented)('the default of the option $name is $value, as documented', ({ name, value }) => {
  expect(relaySettings({})[name]).toBe(value);
});

const LONGEST_TIMER_MS = 2 ** 31 - 1;

test.each([
  ['maxRowsInFlight', Number.MAX_SAFE_INTEGER],
  ['maxBytesInFlight', Number.MAX_SAFE_INTEGER],
  ['maxTries', Number.MAX_SAFE_INTEGER],
  ['retryMs', LONGEST_TIMER_MS],
  ['statementTimeoutMs', LONGEST_TIMER_MS],
] as const)('the option %s accepts whole numbers from 1 to %d', (name, most) => {
  for (const value of [1, most]) expect(relaySettings({ [name]: value })[name]).toBe(value);
  for (const value of [0, 1.5, most + 1, Number.NaN, '1' as never]) {
    expect(() => relaySettings({ [name]: value })).toThrow(expect.objectContaining({ field: name }));
  }
});

test.each<[string, OutboxRelayOptions]>([
  ['schema', { schema: '' }],
  ['schema', { schema: 'pg_outbox' }],
  ['schema', { schema: 'select' }],
  ['source', { envelope: { cloudEvents: { source: '' } } }],
  ['source', { envelope: { cloudEvents: { source: 1 as never } } }],
  ['defaultType', { envelope: { cloudEvents: { source: '/', defaultType: '' } } }],
])('a relay rejects the wrong %s: %j', (field, options) => {
  expect(() => relaySettings(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
});

test('a relay without onReconnect reports a lost connection as a warning of the process', () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  relaySettings({}).onReconnect(new Error('broken'));
  expect(warn.mock.calls).toEqual([['the relay of an outbox connects again: Error: broken']]);
  const listener = jest.fn();
  relaySettings({ onReconnect: listener }).onReconnect(new Error('broken'));
  expect([listener.mock.calls.length, warn.mock.calls.length]).toEqual([1, 1]);
  warn.mockRestore();
});
