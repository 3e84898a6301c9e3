import { EvenShardsError } from '../../kernel/errors';

/** A sweep must not start before the keeper has processed a record of the table's stream. */
export class SweepTooEarlyError extends EvenShardsError {
  constructor() {
    super(
      'SWEEP_TOO_EARLY',
      'the keeper has not processed a stream record, so it could miss changes that are made during the sweep: ' +
        'write an item of the table, wait a minute, and start the sweep again',
    );
  }
}
