import { dynaliteForTests } from '../support/dynalite';
import { EVERYTHING } from '../support/fakes/fan-out-model';
import { playIndexAnswers } from '../support/plays/index-answers';
import { playTableAnswers } from '../support/plays/table-answers';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';

/**
 * Compares the fakes of DynamoDB with dynalite. `npm run conformance` compares them with DynamoDB Local, too. docs/models.md lists
 * the differences.
 */
const { dynamoDb } = dynaliteForTests();

test(
  'FakeIndex has the same responses and errors as dynalite',
  async () => {
    const limits = {
      ...EVERYTHING,
      ...{ layouts: ['single-attribute' as const], sortKeyCounts: [0, 1], sortValues: 5 },
    };
    const known = { freeEmptyReads: true, countsCharacters: true };
    const compared = await playIndexAnswers(dynamoDb, limits, { calls: randomRuns(150), seed: 1, known });
    for (const words of [
      'filtered, from a key',
      'counted',
      'more than a megabyte',
      'does not match the range key predicate',
      'outside query boundaries',
      'starting key is invalid',
      'non-primary key attributes',
      'unused in expressions',
    ]) {
      expect({ words, compared: Object.keys(compared).some((kind) => kind.includes(words)) }).toEqual({
        words,
        compared: true,
      });
    }
  },
  randomRunsTimeout(60_000),
);

test(
  'FakeTable has the same responses as dynalite',
  async () => {
    const play = { calls: randomRuns(200), seed: 1, transactional: true };
    const compared = await playTableAnswers(dynamoDb, play);
    expect(Object.keys(compared).sort()).toEqual([
      'getItem',
      'transactWriteItems',
      'transactWriteItems TransactionCanceledException',
      'transactWriteItems ValidationException',
      'updateItem',
      'updateItem ConditionalCheckFailedException',
    ]);
  },
  randomRunsTimeout(60_000),
);
