import { parseControllerEvent } from '../../../../lambda/adaptive-shard-count-controller/controller-event';

const parse = (event: unknown) => parseControllerEvent('byStatus', event);

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
    [{ 'detail-type': 'CloudWatch Alarm State Change' }, 'event'],
  ])('rejects %j with an error that names the field', (event, field) => {
    expect(() => parse(event)).toThrow(expect.objectContaining({ code: 'INVALID_EVENT', field }));
  });
});
