import { errors } from 'cassandra-driver';
import { DatabaseError } from 'pg';
import { loggable, loggableMessage } from '../../../lambda/loggable';
import { InvalidArgumentError } from '../../../lib/core';

const CANARY = 'canary-7f3a';

/** The text that the Lambda runtime logs for an uncaught error. */
const logged = (error: unknown) => JSON.stringify(error);

test.each<[string, Error]>([
  ['a statement that Postgres rejects', new DatabaseError(`invalid input: "${CANARY}"`, 1, 'error')],
  ['a statement that Cassandra rejects', new errors.ResponseError(0x2200, `invalid: ${CANARY}`)],
  [
    'a statement that every host rejects',
    new errors.NoHostAvailableError({ '10.0.0.1:9142': new errors.ResponseError(0x2200, CANARY) }),
  ],
  ['a bad argument', new InvalidArgumentError('field', CANARY, 'another')],
])('loggable – %s – logs no data, and throws the whole error to the caller', async (_, error) => {
  const handler = loggable(() => Promise.reject(error));
  const thrown = await handler(undefined, undefined).catch((each: Error) => each);
  expect(thrown).toBe(error);
  expect((thrown as Error).message).toContain(CANARY);
  expect(logged(thrown)).not.toContain(CANARY);
  expect(logged(thrown)).toContain(error.name);
  expect(loggableMessage(error)).not.toContain(CANARY);
});

/** An error of an SDK, whose properties come from the service. */
const ofService = (properties: object) => Object.assign(new Error('slow down'), { name: 'Throttled' }, properties);

test.each<[string, Error]>([
  ['a name', ofService({ name: CANARY })],
  ['a message that is not a text', ofService({ message: { text: CANARY } })],
  ['a code', ofService({ code: CANARY })],
  ['metadata', ofService({ $metadata: { httpStatusCode: 400, extendedRequestId: CANARY, [CANARY]: 1 } })],
  ['a message that was changed later', Object.assign(new Error(CANARY), { message: 'later' })],
])('loggable – %s of a service error – logs no data', async (_, error) => {
  const thrown = await loggable(() => Promise.reject(error))(undefined, undefined).catch((each: Error) => each);
  expect(logged(thrown)).not.toContain(CANARY);
  expect(loggableMessage(error)).not.toContain(CANARY);
});

test('loggable logs the type, code, request id and stack trace of a service error', async () => {
  const error = ofService({ code: 'ECONNRESET', $metadata: { httpStatusCode: 400, requestId: '1-2', attempts: 3 } });
  await loggable(() => Promise.reject(error))(undefined, undefined).catch(() => {});
  expect(JSON.parse(logged(error))).toEqual({
    errorType: 'Throttled',
    code: 'ECONNRESET',
    errorMessage: 'slow down',
    stackTrace: expect.arrayContaining([expect.stringMatching(/^at /)]),
    $metadata: { httpStatusCode: 400, requestId: '1-2', attempts: 3 },
  });
});
