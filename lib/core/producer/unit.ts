import type { RecordRejectedError } from './producer-errors';
import type { PutRecordsRequestEntry } from './put-records-client';

/**
 * What a lane sends at a time: its first record, or several of its first records in an aggregate. It is a Kinesis record
 * of its own, or part of a pack with the units of other lanes.
 */
export interface Unit {
  /** The Kinesis record; undefined if the unit goes in packs, which may be another one at each attempt. */
  readonly entry?: PutRecordsRequestEntry;
  /** The number of its first record in the producer's sequence, at each attempt. Undefined if it has an entry. */
  readonly firstSequenceNumber?: bigint;
  /** What the unit counts against Kinesis' limits; in packs, what it adds to one. */
  readonly bytes: number;
  /** How many records of the lane the unit carries. */
  readonly records: number;
  /** The position of its first record in the aggregate that carries it; undefined if it goes without one. */
  position?: number;
  /** Set when a pack was refused: it must not be the fault of the other units in it. */
  mustGoAlone?: boolean;
  /** How often the unit was sent. */
  attempts: number;
  /** Why the last attempt failed. */
  failure?: RecordRejectedError;
}
