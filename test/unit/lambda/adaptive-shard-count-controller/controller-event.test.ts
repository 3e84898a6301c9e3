import { parseControllerEvent } from '../../../../lambda/adaptive-shard-count-controller/controller-event';

const parse = (event: unknown) => parseControllerEvent('byStatus', event);
const alarm = (value: unknown, time: unknown = '2026-11-21T12:00:00Z') => ({
  version: '0',
  'detail-type': 'CloudWatch Alarm State Change',
  time,
  detail: { alarmName: 'Throttles', state: { value } },
});

describe('parseControllerEvent', () => {
  test.each([
    ['of the schedule', {}, { kind: 'check' }],
    ['of a dry run', { dryRun: true, index: 'byStatus' }, { kind: 'dry run' }],
    ['that requests a count', { value: 'open', count: 8 }, { kind: 'increase', value: 'open', count: 8 }],
    [
      'that requests a count of an index without values',
      { count: 8 },
      { kind: 'increase', value: undefined, count: 8 },
    ],
    ['of the alarm', alarm('ALARM'), { kind: 'alarm', isInAlarm: true, at: '2026-11-21T12:00:00.000Z' }],
    ['of the end of the alarm', alarm('OK'), { kind: 'alarm', isInAlarm: false, at: '2026-11-21T12:00:00.000Z' }],
    [
      'of an alarm without data',
      alarm('INSUFFICIENT_DATA'),
      { kind: 'alarm', isInAlarm: false, at: '2026-11-21T12:00:00.000Z' },
    ],
  ])('parses an event %s', (_, event, request) => {
    expect(parse(event)).toEqual(request);
  });

  test.each([
    [null, 'event'],
    [{ cuont: 8, value: 'open' }, 'event'],
    [{ value: 'open' }, 'count'],
    [{ index: 'byDay', count: 8 }, 'index'],
    [{ dryRun: 'yes' }, 'dryRun'],
    [{ dryRun: true, count: 8 }, 'dryRun'],
    [{ 'detail-type': 'Scheduled Event' }, 'detail-type'],
    [alarm('alarmed'), 'detail.state.value'],
    [alarm('OK', 'noon'), 'time'],
  ])('rejects %j with an error that names the field', (event, field) => {
    expect(() => parse(event)).toThrow(expect.objectContaining({ code: 'INVALID_EVENT', field }));
  });
});
