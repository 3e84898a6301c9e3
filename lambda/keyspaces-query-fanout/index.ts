import type { Context } from 'aws-lambda';
import { CASSANDRA, TABLES, VALUES } from '../../lib/core/contract/function-environment';
import { FanOutHistory } from '../../lib/core/fan-out/fan-out-history';
import { type AllowedColumns, checkAllowedColumns } from '../../lib/core/keyspaces/allowed-values';
import type { ShardedKeyspacesConfig } from '../../lib/core/keyspaces/sharded-keyspaces-config';
import { boundValues } from '../bound-values';
import { functionMetrics, publishCounts } from '../embedded-metrics';
import { loggable } from '../loggable';
import { requiredEnvironment } from '../required-environment';
import { cassandraClient, checkLocal } from './cassandra-client';
import { keyspacesClient } from './keyspaces-client';
import type { QueryEvent } from './query-event';
import { queryMetrics } from './query-metrics';
import { type QueryResponse, queryPage } from './query-page';

const local = process.env[CASSANDRA];

const environment = {
  client: local === undefined ? keyspacesClient(requiredEnvironment('AWS_REGION')) : cassandraClient(checkLocal(local)),
  tables: JSON.parse(requiredEnvironment(TABLES)) as Record<string, ShardedKeyspacesConfig>,
  values: boundValues<AllowedColumns>(process.env[VALUES], checkAllowedColumns),
  history: new FanOutHistory(),
};

const metrics = functionMetrics();

type InvocationContext = Pick<Context, 'getRemainingTimeInMillis'>;

export const handler = loggable(handle);

async function handle(event: QueryEvent, context: InvocationContext): Promise<QueryResponse> {
  const { page, response } = await queryPage(environment, event, context);
  publishCounts(metrics, queryMetrics(page));
  return response;
}
