import { inspect } from 'node:util';
import * as core from '../../../../lib/core';
import { EvenShardsError, InvalidArgumentError } from '../../../../lib/core';
import { compareNumbers } from '../../../../lib/core/kernel/decimal';
import { IncompleteAnswerError } from '../../../../lib/core/kernel/incomplete-answer-error';
import { NoConnectionError } from '../../../../lib/core/keyspaces/keyspaces-errors';
import { OutboxLeaseError } from '../../../../lib/core/outbox/outbox-errors';

const CANARY = 'canary-7f3a';
const cause = Object.assign(new Error(CANARY), { canary: CANARY });

/**
 * An error of each class, with the text `CANARY` in every field that can contain data of a caller, a record or a
 * service.
 */
const ERRORS: Record<string, () => Error> = {
  EvenShardsError: () => new EvenShardsError('CODE', CANARY, { cause, summary: 'it failed' }),
  CorruptAggregateError: () => new core.CorruptAggregateError('it ends early'),
  CorruptRegistryError: () => new core.CorruptRegistryError('the history in its head'),
  CorruptShardCountError: () => new core.CorruptShardCountError('the counts of a value'),
  DailyUpdateLimitError: () => new core.DailyUpdateLimitError('stream', 3, [], { cause }),
  EarlierRecordFailedError: () => new core.EarlierRecordFailedError(CANARY, { cause }),
  IncompleteAnswerError: () => new IncompleteAnswerError('Query', 'Items', { cause }),
  KeySpaceExhaustedError: () => new core.KeySpaceExhaustedError(3),
  MoveInProgressError: () => new core.MoveInProgressError(),
  NoConnectionError: () => new NoConnectionError({ cause }),
  OutboxConnectionError: () => new core.OutboxConnectionError({ cause }),
  OutboxLeaseError: () => new OutboxLeaseError(3),
  OutboxOwnerError: () => new core.OutboxOwnerError('outbox', 'owner', 'role'),
  OutboxPermissionError: () => new core.OutboxPermissionError('role', ['SELECT'], 'outbox', { cause }),
  NewerFormatError: () => new core.NewerFormatError('cursor', 2, '0.3.0'),
  OutboxRestoredError: () => new core.OutboxRestoredError('outbox'),
  OutboxRowError: () => new core.OutboxRowError(3n, CANARY, 2, false, { cause }),
  OutboxRowSecurityError: () => new core.OutboxRowSecurityError('role', ['outbox.message']),
  OutboxSchemaError: () => new core.OutboxSchemaError('outbox', 0, 1),
  OutboxSequenceError: () => new core.OutboxSequenceError('outbox', '32'),
  PartialRebalanceError: () => new core.PartialRebalanceError([{ owner: CANARY, from: 1n, to: 2n }] as never, cause),
  ProducerAbortedError: () => new core.ProducerAbortedError({ cause: new AggregateError([cause], CANARY) }),
  ProducerClosedError: () => new core.ProducerClosedError(),
  RecordExpiredError: () => new core.RecordExpiredError(3),
  RecordRejectedError: () => new core.RecordRejectedError('ValidationException', CANARY, 2, { cause }),
  RegistryBusyError: () => new core.RegistryBusyError(3),
  ReshardSupersededError: () =>
    new core.ReshardSupersededError({ streamName: 'stream', shardCount: 3 }, 4, 'deployment'),
  ReshardTimeOutError: () => new core.ReshardTimeOutError({ streamName: 'stream', shardCount: 3 }, 4, 5),
  ShardCountChangedError: () => new core.ShardCountChangedError(),
  ShardCountsUnavailableError: () => new core.ShardCountsUnavailableError({ cause }),
  ShardsUnavailableError: () => new core.ShardsUnavailableError([3], { cause }),
  StaleMoveError: () => new core.StaleMoveError(CANARY, 'its key has changed'),
  StreamDistributionError: () => new core.StreamDistributionError(),
  StreamNotReshardableError: () => new core.StreamNotReshardableError('stream', 'it is on-demand'),
  UncertainCommitError: () => new core.UncertainCommitError(),
  WrongOrderError: () => new core.WrongOrderError('Query', 3),
  UnknownPartitionerError: () => new core.UnknownPartitionerError('the partitioner is not known', { cause }),
};

const isErrorClass = (value: unknown): value is new (field: string, value: unknown, allowed: string) => Error =>
  typeof value === 'function' && (value === EvenShardsError || value.prototype instanceof EvenShardsError);
const unexported = [IncompleteAnswerError, NoConnectionError, OutboxLeaseError];
const classes = [...Object.values(core as Record<string, unknown>), ...unexported].filter(isErrorClass);

/** The properties of an error, as the Lambda runtime and most loggers write them. */
const logged = (value: unknown) =>
  JSON.stringify(value, (_, inner) =>
    inner instanceof Error ? { errorMessage: inner.message, stackTrace: inner.stack, ...inner } : inner,
  );

test.each(classes.map((type) => [type.name, type] as const))(
  '%s writes no data of the caller to a log',
  (name, type) => {
    const error = ERRORS[name]?.() ?? new type('field', { key: CANARY }, 'allowed');
    expect(error).toBeInstanceOf(type);
    for (const written of [logged(error), logged({ failures: [error] }), inspect({ ...error })]) {
      expect(written).not.toContain(CANARY);
    }
    expect(JSON.parse(logged(error))).toMatchObject({
      errorType: name,
      errorMessage: expect.any(String),
      code: expect.any(String),
      stackTrace: expect.arrayContaining([expect.stringMatching(/^at /)]),
    });
  },
);

test('an error still contains the wrong value in its properties', () => {
  const error = new InvalidArgumentError('limit', CANARY, 'a number');
  expect(error).toMatchObject({ field: 'limit', value: CANARY, allowed: 'a number' });
  expect(error.problem).toBe(`limit must be a number, got "${CANARY}"`);
  expect(error.summary).toBe('limit must be a number');
  expect(new core.EarlierRecordFailedError('key')).toMatchObject({ partitionKey: 'key' });
  expect(new core.StaleMoveError('owner', 'reason')).toMatchObject({ owner: 'owner' });
});

test('the length of an error message does not grow with the input', () => {
  const long = 'x'.repeat(1_000_000);
  const errors = [
    new InvalidArgumentError(`values[${long}]`, long, 'a number'),
    new InvalidArgumentError('value', { long }, 'a number'),
    new core.StaleMoveError(long, 'its key has changed'),
    new core.ShardsUnavailableError(Array.from({ length: 10_000 }, (_, shard) => shard)),
    errorOf(() => compareNumbers(long, '1')),
  ];
  for (const error of errors) expect(error.message.length).toBeLessThan(1_000);
  expect(inspect(errors[1]!, { depth: 0 }).length).toBeLessThan(5_000);
});

function errorOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}
