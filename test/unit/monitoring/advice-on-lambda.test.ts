import { readFileSync } from 'node:fs';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { UniformStream } from '../../../lib';
import { adviceOf } from '../../support/alarms/advice-of';
import { AlarmInPlay } from '../../support/alarms/alarm-in-play';
import { RelayStack } from '../../support/stacks/relay-stack';

/** What the guide says to do about the memory and the concurrency of a function is done here until the alarm is quiet. */

/** The template with that function, and the properties of the function in it. */
function synthesized(stack: Stack, functionId: RegExp) {
  const template = Template.fromStack(stack).toJSON();
  const [id] = Object.entries<{ Type: string }>(template.Resources).find(
    ([name, { Type }]) => Type === 'AWS::Lambda::Function' && functionId.test(name),
  )!;
  return { template, properties: template.Resources[id].Properties };
}

describe('an outbox that gets more rows than its function relays', () => {
  const advice = adviceOf('Rows of an outbox wait');
  /** The memory with which a function has one processor. Source: Lambda developer guide, configuring the memory of a function. */
  const ONE_PROCESSOR_MB = 1_769;
  const ROWS_A_SECOND = 60_000;
  const relayWith = (memorySize?: number) =>
    synthesized(new RelayStack(new App(), memorySize === undefined ? {} : { memorySize }), /^Relay/);

  /** What the relay takes of a processor for a row of many keys, as the guide to the outbox has measured it. */
  const [, measured] = readFileSync('docs/guides/outbox.md', 'utf8').split('npm run bench outbox processor-time');
  const [, microsecondsARow] = /^\| 200,000 rows, 10,000 keys \| ([\d.]+) \|/m.exec(measured!)!;

  test('waits until the function has more memory', () => {
    expect(advice).toContain(
      'Otherwise the function needs more processor time: raise its `memorySize`, up to 1,769 MB',
    );
    const lag = new AlarmInPlay('RelayLag');
    let waitingRows = 0;
    const hours = (count: number, memorySize?: number): boolean => {
      const { MemorySize } = relayWith(memorySize).properties;
      const relayedASecond = (1e6 / Number(microsecondsARow)) * Math.min(1, MemorySize / ONE_PROCESSOR_MB);
      for (let minute = 0; minute < 60 * count; minute++) {
        waitingRows = Math.max(0, waitingRows + 60 * (ROWS_A_SECOND - relayedASecond));
        lag.minute({ WaitingSeconds: waitingRows / ROWS_A_SECOND });
      }
      return lag.isRaised;
    };
    expect(hours(1)).toBe(true);
    expect(hours(1, ONE_PROCESSOR_MB)).toBe(false);
  });

  test('has nothing but the memory changed by that', () => {
    const [before, after] = [relayWith(), relayWith(ONE_PROCESSOR_MB)];
    expect(after.properties.MemorySize).toBe(ONE_PROCESSOR_MB);
    after.properties.MemorySize = before.properties.MemorySize;
    expect(after.template).toEqual(before.template);
  });
});

describe('an account whose concurrency others use up', () => {
  const scaler = (options = {}) => {
    const stack = new Stack(new App(), 'It');
    const stream = new UniformStream(stack, 'Events', { shardCount: 2 });
    stream.autoScaleShardCount({ minCapacity: 1, maxCapacity: 8, ...options });
    return synthesized(stack, /Scaling/);
  };
  const reconciler = (options = {}) => {
    const stack = new Stack(new App(), 'It');
    new UniformStream(stack, 'Events', { shardCount: 2 }).addReconciliation(options);
    return synthesized(stack, /Reconciliation/);
  };

  /** Whether a function gets a place: it has those that are reserved for it, and the others are taken. */
  const runs = ({ ReservedConcurrentExecutions = 0 }) => ReservedConcurrentExecutions > 0;

  test.each([
    ['Scaling has stopped', 'EventsScalingStopped', scaler, 1],
    ['Reconciliation has stopped', 'OtherReconciliationStopped', reconciler, 60],
  ] as const)('%s, until a place is reserved for its function', (heading, alarmId, functionWith, everyMinutes) => {
    expect(adviceOf(heading)).toContain('`reservedConcurrentExecutions: 1` keeps a place for the function');
    const alarm = new AlarmInPlay(alarmId);
    const days = (count: number, options?: object): boolean => {
      const hasPlace = runs(functionWith(options).properties);
      for (let minute = 0; minute < 1_440 * count; minute++) {
        const isDue = minute % everyMinutes === 0;
        const runs = hasPlace && { 'AWS/Lambda Invocations': 1, Errors: 0 };
        alarm.minute(isDue ? { 'AWS/Events Invocations': 1, ...runs } : {});
      }
      return alarm.isRaised;
    };
    expect(days(3)).toBe(true);
    expect(days(1, { reservedConcurrentExecutions: 1 })).toBe(false);
  });

  test('Rows of an outbox wait, until a place is reserved for its function', () => {
    expect(adviceOf('Rows of an outbox wait')).toContain(
      '`reservedConcurrentExecutions: 1` keeps a place for the function',
    );
    const lag = new AlarmInPlay('RelayLag');
    const hour = (options?: object): boolean => {
      const hasPlace = runs(synthesized(new RelayStack(new App(), options), /^Relay/).properties);
      for (let minute = 0; minute < 60; minute++) {
        lag.minute({ 'AWS/Events Invocations': 1, ...(hasPlace && { WaitingSeconds: 1 }) });
      }
      return lag.isRaised;
    };
    expect(hour()).toBe(true);
    expect(hour({ reservedConcurrentExecutions: 1 })).toBe(false);
  });
});
