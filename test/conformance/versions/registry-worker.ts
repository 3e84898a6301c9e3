import type { HashKeyLedger, HashKeyMove, HashKeyRange, OwnerRequest, RegistryTableClient } from '../../../lib/core';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { serve, type WorkerContext } from './serve';

export interface LedgerInput {
  table: string;
  seed: number;
}

export function registryCalls({ core, dynamoDb }: WorkerContext) {
  let random: () => number = Math.random;
  let ledger: HashKeyLedger | undefined;

  /**
   * A client that loses responses after the write and sends the write again, as the SDK does. The condition of the second write
   * fails, and the ledger must then find out whether its own commit is stored.
   */
  const faulty: RegistryTableClient = {
    getItem: (input) => dynamoDb.getItem(input),
    scan: (input) => dynamoDb.scan({ ...input, Limit: 7 }),
    async putItem(input) {
      const response = await dynamoDb.putItem(input);
      return random() < 0.1 ? dynamoDb.putItem(input) : response;
    },
  };
  const ledgerOf = ({ table, seed }: LedgerInput): HashKeyLedger => {
    if (ledger === undefined) random = seededRandom(seed);
    // A small head, so that a ledger must also read the entries.
    ledger ??= new core.HashKeyLedger(new core.DynamoDbRegistryStore(faulty, table), { maxEntries: 5 });
    return ledger;
  };

  return {
    allocate: (input: LedgerInput & { owners: OwnerRequest[]; ranges: HashKeyRange[] }) =>
      ledgerOf(input).allocate(input.owners, input.ranges),
    release: (input: LedgerInput & { owners: string[] }) => ledgerOf(input).release(input.owners),
    move: (input: LedgerInput & { move: HashKeyMove }) => ledgerOf(input).move(input.move),
    rebalance: (input: LedgerInput & { ranges: HashKeyRange[]; mostMoves: number }) =>
      ledgerOf(input).rebalance(input.ranges, input.mostMoves),
    list: (input: LedgerInput) => ledgerOf(input).list(),
    read: ({ table, owners }: { table: string; owners: string[] }) =>
      core.readOwners(new core.DynamoDbRegistryStore(dynamoDb, table), owners),
    head: ({ table }: { table: string }) => new core.DynamoDbRegistryStore(dynamoDb, table).readHead(),
  };
}

serve(registryCalls);
