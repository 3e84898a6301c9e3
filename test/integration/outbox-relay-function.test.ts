import type { Client } from 'pg';
import { deaggregate } from '../../lib/core';
import {
  AGGREGATION,
  CLOUD_EVENTS,
  DATABASE_HOST,
  DATABASE_NAME,
  DATABASE_PORT,
  DATABASE_SECRET_ARN,
  STREAMS,
} from '../../lib/core/contract/function-environment';
import { migrateOutbox } from '../../lib/core/outbox';
import { LambdaFunction } from '../support/lambda-function';
import { type LoopbackServer, putRecordsOutput, SECRET, startJsonService } from '../support/loopback-server';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';

/** Tests the bundled relay function with one stream for each topic and an envelope. */

/** The timeout of the function. The function uses the last ten seconds only for rows in flight. */
const TIME_MS = 14_000;

interface PutRecords {
  StreamName: string;
  Records: { PartitionKey: string; Data: string }[];
}

describeOnPostgres('the relay function with a stream for each topic and CloudEvents', () => {
  let server: PostgresServer;
  let aws: LoopbackServer;
  let client: Client;
  let relay: LambdaFunction;
  const puts: PutRecords[] = [];

  beforeAll(async () => {
    server = await PostgresServer.start();
    client = await server.connect(await server.createDatabase('topics'));
    await migrateOutbox(client);
    aws = await startJsonService((operation, input) => {
      if (operation === 'GetSecretValue') return SECRET;
      puts.push(input);
      return putRecordsOutput(input);
    });
    relay = await LambdaFunction.start({
      name: 'outbox-relay',
      endpoint: aws.endpoint,
      environment: {
        [STREAMS]: JSON.stringify({ repositories: { streamName: 'one' }, invoices: { streamName: 'another' } }),
        [CLOUD_EVENTS]: JSON.stringify({ source: '/shop', defaultType: 'changed' }),
        [AGGREGATION]: 'true',
        [DATABASE_HOST]: '127.0.0.1',
        [DATABASE_PORT]: new URL(server.urlOf('topics')).port,
        [DATABASE_NAME]: 'topics',
        [DATABASE_SECRET_ARN]: 'secret',
      },
    });
  }, 90_000);
  afterAll(async () => {
    await relay?.stop();
    aws?.stop();
    await client?.end();
    await server?.stop();
  });

  const eventsOf = (streamName: string) =>
    puts
      .filter(({ StreamName }) => StreamName === streamName)
      .flatMap(({ Records }) => Records)
      .flatMap(({ PartitionKey, Data }) =>
        deaggregate({ partitionKey: PartitionKey, data: Buffer.from(Data, 'base64') }),
      )
      .map(({ data }) => JSON.parse(Buffer.from(data).toString()));

  test('sends each row to the stream of its topic, and parks a row without a topic', async () => {
    const put = (data: number, topic: string | null, type: string | null = null) =>
      client.query('SELECT outbox.put($1, $2::jsonb, type => $3, topic => $4)', ['k', data, type, topic]);
    await put(1, 'repositories', 'repository.created');
    await put(2, 'invoices');
    await put(3, 'repositories');
    await client.query("SELECT outbox.put('other', '4'::jsonb)");

    const { error, log } = await relay.invoke({}, TIME_MS);

    expect(error).toBeUndefined();
    expect(eventsOf('one')).toMatchObject([
      { data: 1, type: 'repository.created', source: '/shop' },
      { data: 3, type: 'changed', source: '/shop' },
    ]);
    expect(eventsOf('another')).toMatchObject([{ data: 2, type: 'changed', partitionkey: 'k' }]);
    expect(log).toContain('a row must have a topic that the relay has a producer for, got no topic');
    const { rows } = await client.query('SELECT partition_key FROM outbox.parked');
    expect(rows).toEqual([{ partition_key: 'other' }]);
  }, 60_000);
});
