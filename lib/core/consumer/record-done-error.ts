import { EvenShardsError } from '../foundation/errors';

/**
 * The record has taken effect before. `once.postgres` throws it so that your transaction is rolled back. The consumer takes
 * the record for done.
 */
export class RecordDoneError extends EvenShardsError {
  constructor() {
    super('RECORD_DONE', 'not applied: this record, or a later one of its key, has taken effect before');
  }
}
