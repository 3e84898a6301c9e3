import { EvenShardsError } from '../foundation/errors';

/** DynamoDB's answer to a query is empty or lacks what every answer has. Another attempt can succeed. */
export class IncompleteAnswerError extends EvenShardsError {
  constructor() {
    super('INCOMPLETE_ANSWER', 'the answer to a query must hold ScannedCount, and Items or Count');
  }
}
