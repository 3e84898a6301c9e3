import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDbKeeperStore } from '../../lib/core/sharded-index/keeper/dynamodb-keeper-store';
import type { SweepReason } from '../../lib/core/sharded-index/keeper/keeper-store';
import type { DeployedKeeper } from '../deployed-stack/stack-resources';
import { counted } from '../plain-text';
import { type Diagnosis, notMeasured } from './diagnosis';
import type { KeeperObservation } from './observations';

/** Reads the state of a keeper from its own table. */
export async function keeperOf(
  dynamodb: DynamoDB,
  { path, tableName, corrects }: DeployedKeeper,
): Promise<KeeperObservation> {
  const store = new DynamoDbKeeperStore(dynamodb, tableName);
  const sweep = (await store.readState())?.sweep;
  const counts = { contested: 0, rejected: 0 };
  for (let cursor: string | undefined; ; ) {
    const page = await store.page(cursor);
    for (const { reason } of page.items) if (reason === 'contested' || reason === 'rejected') counts[reason] += 1;
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  return { path, corrects, ...counts, ...(sweep?.isStarted === false && { sweepDue: sweep.reason }) };
}

const CAUSES: Readonly<Record<SweepReason, string>> = {
  firstRecords: 'items are older than the keeper',
  anotherStream: 'the stream of the table was turned off and on again',
  lateRecords: 'the keeper was behind for almost 24 hours',
  requested: 'a person has requested it',
};

/** A delay is a problem if it lasts for this number of minutes, as in the alarm of `addIndexKeeper`. */
const LATE_MINUTES = 3;

/** The problems of a keeper. */
export function ofKeeper(keeper: KeeperObservation): Diagnosis[] {
  const { path, corrects, sweepDue, contested, rejected, missing, lateMinutes = 0, delaySeconds = 0 } = keeper;
  const { notKept = 0 } = keeper;
  const found: Diagnosis[] = [];
  if (missing !== undefined) found.push(notMeasured(path, 'the metrics of the keeper', missing));
  if (lateMinutes >= LATE_MINUTES) {
    const what = `changed items have waited for the keeper, for a minute or more in ${counted(lateMinutes, 'minute')} and at most for ${counted(Math.round(delaySeconds), 'second')}: queries do not find new and replaced items that wait, and after 24 hours the stream deletes their records`;
    const change =
      'read the log of the function for failed invocations, and find the cause if the table or the index throttles writes. Otherwise, increase parallelizationFactor of the IndexKeeper';
    found.push({ id: 'keeperBehind', weight: 'loss', path, what, change });
  }
  if (notKept > 0) {
    const what = `in ${counted(notKept, 'check')}, the keeper has found an item that it cannot keep, because its value or its sort key cannot be part of an index key: queries miss these items`;
    const change =
      'invoke the function with {"list":true} to see keys of these items, then correct the items and their writers';
    found.push({ id: 'itemsNotKept', weight: 'loss', path, what, change });
  }
  if (sweepDue !== undefined) {
    const what = `the keeper must check the whole table, because ${CAUSES[sweepDue]}: queries can miss items`;
    found.push({ id: 'sweepDue', weight: 'loss', path, what, change: 'invoke the function with {"sweep":true}' });
  }
  if (contested + rejected > 0) {
    const what = `the keeper has set aside ${counted(contested + rejected, 'item')}: programs undo the corrections of ${contested}, and DynamoDB rejects the corrections of ${rejected}`;
    found.push({ id: 'itemsSetAside', weight: 'loss', path, what, change: 'invoke the function with {"list":true}' });
  }
  if (!corrects) {
    const what = 'the keeper only counts the items that queries miss';
    found.push({ id: 'keeperTrial', weight: 'loss', path, what, change: 'set correct: true, or remove the keeper' });
  }
  return found;
}
