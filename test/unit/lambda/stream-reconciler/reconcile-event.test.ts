import { InvalidEventError } from '../../../../lambda/invalid-event-error';
import { parseReconcileEvent } from '../../../../lambda/stream-reconciler/reconcile-event';

describe('the event of the stream reconciler', () => {
  test.each([[{}], [{ repair: true }], [{ repair: false }]])('can be %j', (event) => {
    expect(parseReconcileEvent(event)).toEqual(event);
  });

  test.each<[unknown, string]>([
    [{ repiar: true }, 'event must be an object with only repair, got "repiar"'],
    [{ repair: true, shardCount: 4 }, 'event must be an object with only repair, got "shardCount"'],
    [{ repair: 'yes' }, 'repair must be true or false, got "yes"'],
    [{ repair: null }, 'repair must be true or false, got null'],
    [null, 'event must be {} or an object with repair, got null'],
    ['repair', 'event must be {} or an object with repair, got "repair"'],
    [[], 'event must be {} or an object with repair, got []'],
  ])('is rejected if it is %j', (event, message) => {
    expect(() => parseReconcileEvent(event)).toThrow(InvalidEventError);
    expect(() => parseReconcileEvent(event)).toThrow(message);
  });
});
