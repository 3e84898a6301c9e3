import { parseControllerEvent } from '../../../../lambda/adaptive-shard-count-controller/controller-event';

const parse = (event: unknown) => parseControllerEvent('byStatus', event);
const alarm = (value: unknown, time: unknown = '2026-11-21T12:00:00Z') => ({
  version: '0',
  'detail-type': 'CloudWatch Alarm State Change',
  time,
  detail: { alarmName: 'Throttles', state: { value } },
});

describe('an event of the controller', () => {
  test.each([
    ['of the schedule', {}, { kind: 'look' }],
    ['of a dry run', { dryRun: true, index: 'byStatus' }, { kind: 'dry run' }],
    ['that asks for a count', { value: 'open', count: 8 }, { kind: 'increase', value: 'open', count: 8 }],
    ['of an index without values', { count: 8 }, { kind: 'increase', value: undefined, count: 8 }],
    ['of the alarm', alarm('ALARM'), { kind: 'alarm', isRaised: true, at: '2026-11-21T12:00:00.000Z' }],
    ['of its end', alarm('OK'), { kind: 'alarm', isRaised: false, at: '2026-11-21T12:00:00.000Z' }],
    ['of no data', alarm('INSUFFICIENT_DATA'), { kind: 'alarm', isRaised: false, at: '2026-11-21T12:00:00.000Z' }],
  ])('%s', (_, event, request) => {
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
  ])('is refused by the name of the field: %j', (event, field) => {
    expect(() => parse(event)).toThrow(expect.objectContaining({ code: 'INVALID_EVENT', field }));
  });
});
