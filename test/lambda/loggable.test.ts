import { errors } from 'cassandra-driver';
import { DatabaseError } from 'pg';
import { loggable, loggableMessage } from '../../lambda/loggable';
import { InvalidArgumentError } from '../../lib/core';

const CANARY = 'canary-7f3a';

/** As Lambda's runtime writes an uncaught error. */
const logged = (error: unknown) => JSON.stringify(error);

test.each<[string, Error]>([
  ['a statement that Postgres refuses', new DatabaseError(`invalid input: "${CANARY}"`, 1, 'error')],
  ['a statement that Cassandra refuses', new errors.ResponseError(0x2200, `invalid: ${CANARY}`)],
  [
    'a statement that no host takes',
    new errors.NoHostAvailableError({ '10.0.0.1:9142': new errors.ResponseError(0x2200, CANARY) }),
  ],
  ['a bad argument', new InvalidArgumentError('field', CANARY, 'another')],
])('%s takes no data to a log, and all of it to the caller', async (_, error) => {
  const handler = loggable(() => Promise.reject(error));
  const thrown = await handler(undefined, undefined).catch((each: Error) => each);
  expect(thrown).toBe(error);
  expect((thrown as Error).message).toContain(CANARY);
  expect(logged(thrown)).not.toContain(CANARY);
  expect(logged(thrown)).toContain(error.name);
  expect(loggableMessage(error)).not.toContain(CANARY);
});
