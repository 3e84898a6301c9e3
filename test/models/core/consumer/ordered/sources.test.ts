import type { Pool } from 'pg';
import { localClients } from '../../../../../bin/local/emulators/clients';
import { startDynamoDbEmulator } from '../../../../../bin/local/emulators/dynamodb-emulator';
import { ONCE_POSTGRES_TABLE } from '../../../../../lib/core/consumer';
import {
  createConsumerTables,
  POSITIONS_TABLE,
  playConsumerOfSources,
  type SourcesFacts,
} from '../../../../support/plays/consumer-of-sources';
import { describeOnPostgres } from '../../../../support/postgres/describe-on-postgres';
import { PostgresServer } from '../../../../support/postgres/postgres-server';
import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';

describeOnPostgres('a consumer of several sources', () => {
  test(
    'applies each record once and in the order of its source and key, in random cases of sources, effects and failures',
    async () => {
      for (const method of ['error', 'log'] as const) jest.spyOn(console, method).mockImplementation(() => {});
      const [server, emulator] = await Promise.all([PostgresServer.start(), startDynamoDbEmulator()]);
      const { endpoint } = emulator;
      const { dynamodb } = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint });
      const url = await server.createDatabase('sources');
      const pool: Pool = server.pool(url);
      try {
        await createConsumerTables(dynamodb);
        await pool.query(ONCE_POSTGRES_TABLE);
        await pool.query(POSITIONS_TABLE);
        await pool.query('CREATE TABLE effect (id serial, run text, key text, text text)');
        const all: SourcesFacts[] = [];
        for (let seed = 0; seed < randomRuns(20); seed++) {
          try {
            all.push(await playConsumerOfSources({ dynamodb, pool, seed }));
          } catch (error) {
            throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
          }
        }
        for (const fact of [
          'crashes',
          'lostAnswers',
          'refusedCalls',
          'again',
          'parked',
          'corrupt',
          'copies',
        ] as const) {
          expect({ fact, isInSome: all.some((each) => each[fact] > 0) }).toEqual({ fact, isInSome: true });
        }
      } finally {
        dynamodb.destroy();
        await Promise.all([server.stop(), emulator.stop()]);
      }
    },
    randomRunsTimeout(240_000),
  );
});
