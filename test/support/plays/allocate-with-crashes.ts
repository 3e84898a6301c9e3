import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { LOCAL_REGION } from '../../../bin/local/assembly/emulated-types';
import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import { LOCAL_CREDENTIALS } from '../../../bin/local/functions/lambda-environment';
import {
  DynamoDbRegistryStore,
  HashKeyLedger,
  type HashKeyOwner,
  type RegistryTableClient,
  readOwners,
  shardIndexOf,
  UncertainCommitError,
  uniformRanges,
} from '../../../lib/core';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { CrashError } from '../fakes/fake-registry-store';
import { createKeyedTable } from '../keyed-table';

interface Ordeal {
  allocators: number;
  owners: number;
  shards: number;
  /** The share of writes at which the process crashes, before or after the write. */
  crashes: number;
  seed: number;
}

interface Outcome {
  crashed: number;
  commits: number;
  requests: number;
  /** Owners that received more than one key. */
  ownersOfTwoKeys: number;
  keysOfTwoOwners: number;
  ownersLost: number;
  /** The number of owners on the fullest shard, and the allowed maximum. */
  fullest: number;
  bound: number;
}

const TableName = 'registry';

/**
 * Many processes allocate hash keys on one table of the emulator. For each owner, two processes allocate at about the
 * same time.
 */
export async function allocateWithCrashes({ allocators, owners, shards, crashes, seed }: Ordeal): Promise<Outcome> {
  const emulator = await startDynamoDbEmulator();
  const client = new DynamoDB({
    endpoint: emulator.endpoint,
    region: LOCAL_REGION,
    credentials: LOCAL_CREDENTIALS,
    requestHandler: { httpAgent: { maxSockets: allocators } },
  });
  try {
    await createKeyedTable(client, TableName, 'id');
    const random = seededRandom(seed);
    const counts = { crashed: 0, requests: 0 };
    const ranges = uniformRanges(shards);
    const names = Array.from({ length: owners }, (_, index) => `owner-${index}`);
    const queue = [...names, ...names].sort(() => random() - 0.5);
    const answers = new Map(names.map((name) => [name, new Set<string>()]));
    const start = () =>
      new HashKeyLedger(new DynamoDbRegistryStore(mortal(client, random, crashes, counts), TableName));

    const work = async () => {
      let ledger = start();
      for (let owner = queue.pop(); owner !== undefined; ) {
        try {
          const [{ hashKey }] = (await ledger.allocate([{ owner }], ranges)) as [HashKeyOwner];
          answers.get(owner)!.add(String(hashKey));
          owner = queue.pop();
        } catch (error) {
          // If more than 64 other commits follow, a process cannot find its own commit, and allocates again. The owner
          // keeps its key.
          if (!(error instanceof CrashError || error instanceof UncertainCommitError)) throw error;
          ledger = start();
        }
      }
    };
    await Promise.all(Array.from({ length: allocators }, work));

    const store = new DynamoDbRegistryStore(client, TableName);
    const found = await new HashKeyLedger(store).list();
    const read = (await readOwners(store, names)).flatMap((owner) => owner ?? []);
    const perShard = new Array<number>(shards).fill(0);
    for (const { hashKey } of found) perShard[shardIndexOf(hashKey, ranges)]! += 1;
    for (const { owner, hashKey } of [...found, ...read]) answers.get(owner)!.add(String(hashKey));
    return {
      ...counts,
      commits: (await store.readHead())!.version,
      ownersOfTwoKeys: [...answers.values()].filter((keys) => keys.size > 1).length,
      keysOfTwoOwners: found.length - new Set(found.map(({ hashKey }) => String(hashKey))).size,
      ownersLost: 2 * owners - found.length - read.length,
      fullest: Math.max(...perShard),
      bound: Math.ceil(owners / shards),
    };
  } finally {
    client.destroy();
    await emulator.stop();
  }
}

/** A client of a process that may crash directly before or after a write. */
function mortal(
  client: DynamoDB,
  random: () => number,
  crashes: number,
  counts: { crashed: number; requests: number },
): RegistryTableClient {
  const crash = (when: string): never => {
    counts.crashed += 1;
    throw new CrashError(when);
  };
  const counted = <I, O>(request: (input: I) => Promise<O>) => {
    return (input: I): Promise<O> => {
      counts.requests += 1;
      return request(input);
    };
  };
  return {
    getItem: counted((input) => client.getItem(input)),
    scan: counted((input) => client.scan(input)),
    putItem: counted(async (input) => {
      if (random() < crashes / 2) crash('before a write');
      const answer = await client.putItem(input);
      if (random() < crashes / 2) crash('after a write');
      return answer;
    }),
  };
}
