/**
 * Reads the stream of a table from an emulator of DynamoDB, as Lambda does. The records have the form of an event of Lambda.
 * The emulator checks no signature.
 */
export class TableStream {
  private readonly iterators = new Map<string, string | undefined>();

  private constructor(
    private readonly endpoint: string,
    readonly streamArn: string,
  ) {}

  static async of(endpoint: string, tableName: string): Promise<TableStream> {
    const { Streams } = await callStreams(endpoint, 'ListStreams', { TableName: tableName });
    return new TableStream(endpoint, Streams[0].StreamArn);
  }

  /** The next records of each shard. Parents come before their children. */
  async *batches(): AsyncGenerator<object[]> {
    const { StreamDescription } = await callStreams(this.endpoint, 'DescribeStream', { StreamArn: this.streamArn });
    for (const { ShardId } of StreamDescription.Shards) {
      if (!this.iterators.has(ShardId)) {
        const position = { StreamArn: this.streamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' };
        this.iterators.set(ShardId, (await callStreams(this.endpoint, 'GetShardIterator', position)).ShardIterator);
      }
      const ShardIterator = this.iterators.get(ShardId);
      if (ShardIterator === undefined) continue;
      const { Records, NextShardIterator } = await callStreams(this.endpoint, 'GetRecords', { ShardIterator });
      this.iterators.set(ShardId, NextShardIterator);
      if (Records.length > 0) yield Records.map((record: object) => ({ ...record, eventSourceARN: this.streamArn }));
    }
  }
}

/** The credential decides which tables the emulator shows. */
const AUTHORIZATION =
  'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0';

// biome-ignore lint/suspicious/noExplicitAny: the responses of an emulator
export async function callStreams(endpoint: string, operation: string, input: object): Promise<any> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDBStreams_20120810.${operation}`,
      'x-amz-date': '20260101T000000Z',
      authorization: AUTHORIZATION,
    },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`${operation}: ${await response.text()}`);
  return response.json();
}
