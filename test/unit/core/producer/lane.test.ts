import { Lane, type LaneState } from '../../../../lib/core/producer/lane';
import type { PendingRecord } from '../../../../lib/core/producer/pending-record';
import type { Unit } from '../../../../lib/core/producer/unit';
import { SilentRecord } from './silent-record';

const pending = (bytes = 1): PendingRecord => new SilentRecord({ partitionKey: 'a', data: Buffer.alloc(bytes) });

const unit = (): Unit => ({
  entry: { PartitionKey: 'a', Data: Buffer.alloc(1) },
  bytes: 1,
  records: 1,
  attempts: 0,
});

function laneWith(...records: PendingRecord[]): Lane {
  const lane = new Lane('a');
  for (const record of records) lane.add(record);
  return lane;
}

const TRANSITIONS: Record<string, (lane: Lane) => void> = {
  becomeReady: (lane) => lane.becomeReady(),
  depart: (lane) => lane.depart(lane.unit ?? unit()),
  backOff: (lane) => lane.backOff(() => {}),
  settle: (lane) => lane.settle(),
  goOn: (lane) => lane.goOn(),
  end: (lane) => lane.end(),
};

/** How a new lane comes to each state. */
const WAYS: Record<LaneState, string[]> = {
  waiting: [],
  ready: ['becomeReady'],
  'in flight': ['becomeReady', 'depart'],
  settling: ['becomeReady', 'depart', 'settle'],
  ended: ['end'],
};

/** Where each transition leads from the states that it may leave. */
const LEGAL: Record<LaneState, Record<string, LaneState>> = {
  waiting: { becomeReady: 'ready', settle: 'settling', end: 'ended' },
  ready: { depart: 'in flight', settle: 'settling', end: 'ended' },
  'in flight': { backOff: 'waiting', settle: 'settling' },
  settling: { goOn: 'waiting', end: 'ended' },
  ended: {},
};

const STATES = Object.keys(WAYS) as LaneState[];

describe('Lane', () => {
  const cases = STATES.flatMap((state) => Object.keys(TRANSITIONS).map((name) => [state, name] as const));

  test.each(cases.filter(([state, name]) => name in LEGAL[state]))('that is %s may %s', (state, name) => {
    const lane = laneIn(state);
    TRANSITIONS[name]!(lane);
    expect(lane.state).toBe(LEGAL[state][name]);
  });

  test.each(cases.filter(([state, name]) => !(name in LEGAL[state])))('that is %s refuses to %s', (state, name) => {
    const lane = laneIn(state);
    expect(() => TRANSITIONS[name]!(lane)).toThrow(`a lane that is ${state} cannot ${name}`);
    expect(lane.state).toBe(state);
  });

  test('counts its records and their bytes', () => {
    const records = [pending(3), pending(4)];
    const lane = laneWith(...records);
    expect(lane).toMatchObject({ length: 2, bytes: 7, head: records[0], tail: records[1] });
    lane.settle();
    expect(lane.shift()).toBe(records[0]);
    expect(lane).toMatchObject({ length: 1, bytes: 4, head: records[1] });
  });

  test('lets go of what waits behind its unit in flight, and of nothing else', () => {
    const [first, second, third, fourth, fifth] = [3, 4, 5, 6, 7].map(pending) as [PendingRecord, ...PendingRecord[]];
    const lane = laneWith(first, second!, third!, fourth!);
    lane.becomeReady();
    lane.depart({ ...unit(), records: 2 });
    expect(lane.takeBehindUnit(1)).toEqual([third]);
    expect(lane).toMatchObject({ length: 3, bytes: 13, firstWaiting: fourth, tail: fourth });
    expect(lane.takeBehindUnit(9)).toEqual([fourth]);
    expect(lane).toMatchObject({ length: 2, bytes: 7, firstWaiting: undefined, tail: second });
    lane.add(fifth!);
    expect(lane).toMatchObject({ length: 3, bytes: 14, firstWaiting: fifth, tail: fifth });
  });

  test.each<LaneState>(['waiting', 'ready', 'in flight'])('that is %s keeps its records', (state) => {
    expect(() => laneIn(state).shift()).toThrow(`a lane that is ${state} keeps its records`);
  });

  test('that is ended takes no more records', () => {
    expect(() => laneIn('ended').add(pending())).toThrow('takes no more records');
  });

  test('sends the same unit until it ends, and counts its attempts', () => {
    const lane = laneIn('in flight');
    const sent = lane.unit!;
    lane.backOff(() => {});
    lane.becomeReady();
    expect(() => lane.depart(unit())).toThrow('the same unit');
    lane.depart(sent);
    expect(sent.attempts).toBe(2);
    lane.settle();
    expect(lane.unit).toBeUndefined();
  });

  test.each(['settle', 'end'])('ends its back-off when others %s it', (name) => {
    const lane = laneIn('in flight');
    const cancel = jest.fn();
    lane.backOff(cancel);
    TRANSITIONS[name]!(lane);
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  test('leaves no timer that watches its age when it ends', () => {
    const lane = laneIn('waiting');
    const cancel = jest.fn();
    lane.cancelExpiry = cancel;
    lane.end();
    expect(cancel).toHaveBeenCalledTimes(1);
    expect(lane.cancelExpiry).toBeUndefined();
  });
});

function laneIn(state: LaneState): Lane {
  const lane = laneWith(pending());
  for (const name of WAYS[state]) TRANSITIONS[name]!(lane);
  return lane;
}
