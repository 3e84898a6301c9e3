import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  fanOutQuery,
  lightQueryClient,
  plainItem,
  type QueryClient,
  type ShardedIndexConfig,
  shardAttributes,
  shardUpdate,
} from 'cdk-even-shards/sharded-index';

export interface Job {
  job_id: string;
  status: string;
  create_time: string;
  update_time: string;
}

/** A page of the jobs of one or several states in a period. */
export interface JobsRequest {
  states: string[];
  from: string;
  to: string;
  cursor?: string;
}

/** Writes and queries jobs, as an application does. The constructor takes the configurations of both indexes. */
export class Jobs {
  private readonly documents: DynamoDBDocument;
  private readonly queries: QueryClient;

  constructor(
    dynamoDb: DynamoDB,
    private readonly byCreation: ShardedIndexConfig,
    private readonly byUpdate: ShardedIndexConfig,
  ) {
    this.documents = DynamoDBDocument.from(dynamoDb);
    this.queries = lightQueryClient(dynamoDb);
  }

  /** Both indexes share the shard attribute, so one random shard is enough. */
  async create(job: Job): Promise<void> {
    const Item = { ...job, ...shardAttributes(this.byCreation, job) };
    await this.documents.put({ TableName: this.byCreation.tableName, Item });
  }

  /** Sets a new state, and moves the job to a shard of this state in both indexes. */
  async advance(job_id: string, status: string, update_time: string): Promise<void> {
    await this.documents.update({
      TableName: this.byCreation.tableName,
      Key: { job_id },
      ...shardUpdate([this.byCreation, this.byUpdate], { job_id }, { set: { status, update_time } }),
      ConditionExpression: 'attribute_exists(job_id)',
    });
  }

  created(request: JobsRequest): Promise<{ jobs: Job[]; cursor?: string }> {
    return this.page(this.byCreation, request);
  }

  updated(request: JobsRequest): Promise<{ jobs: Job[]; cursor?: string }> {
    return this.page(this.byUpdate, request);
  }

  private async page(index: ShardedIndexConfig, { states, from, to, cursor }: JobsRequest) {
    const request = { values: states, sortKey: { between: [from, to] as [string, string] }, limit: 100, cursor };
    const page = await fanOutQuery(this.queries, index, request);
    return { jobs: page.items.map((item) => plainItem<Job>(item)), cursor: page.cursor };
  }
}
