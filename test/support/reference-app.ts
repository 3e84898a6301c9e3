import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LocalStack } from '../../bin/local/run-local';
import cdkJson from '../../cdk.json';
import { INDEXES } from '../../lib/core/contract/function-environment';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/config/sharded-index-config';

export const PRODUCER = 'EvenShards/Producer/Function';
export const QUERY = 'EvenShards/Query/Function';

const APP = join(__dirname, '../../dist/bin/app.js');

/** Synthesizes the reference app as `cdk synth` does; returns the assembly's directory. */
export function synthesizeReferenceApp(context: Record<string, unknown> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), 'reference-app-'));
  execFileSync(process.execPath, [APP], {
    env: {
      ...process.env,
      CDK_OUTDIR: directory,
      CDK_CONTEXT_JSON: JSON.stringify({ ...cdkJson.context, ...context }),
      JSII_DEPRECATED: 'quiet',
    },
    stdio: 'pipe',
  });
  return directory;
}

/** The configuration of an index, from the environment of the query function. */
export function indexConfig({ functions }: LocalStack, indexName: string): ShardedIndexConfig {
  const { environment } = functions.find(({ path }) => path === QUERY)!;
  return JSON.parse(environment[INDEXES]!)[indexName];
}

export interface StreamRecord {
  shardId: string;
  sequenceNumber: string;
  partitionKey: string;
  data: Buffer;
}

/** Reads all records of the stream, shard by shard. */
export async function readStream({ clients, streams }: LocalStack): Promise<StreamRecord[]> {
  const StreamName = streams[0]!.name;
  const { Shards = [] } = await clients.kinesis.listShards({ StreamName });
  const records: StreamRecord[] = [];
  for (const { ShardId } of Shards) {
    const start = await clients.kinesis.getShardIterator({
      StreamName,
      ShardId,
      ShardIteratorType: 'TRIM_HORIZON',
    });
    for (let iterator = start.ShardIterator; iterator !== undefined; ) {
      const { Records = [], NextShardIterator } = await clients.kinesis.getRecords({ ShardIterator: iterator });
      for (const { SequenceNumber, PartitionKey, Data } of Records) {
        records.push({
          shardId: ShardId!,
          sequenceNumber: SequenceNumber!,
          partitionKey: PartitionKey!,
          data: Buffer.from(Data!),
        });
      }
      iterator = Records.length === 0 ? undefined : NextShardIterator;
    }
  }
  return records;
}
