import { EvenShardsError } from './errors';

/**
 * The answer of a service is empty, cut off, or lacks what every answer has. The cause can be a proxy, or a connection that
 * was lost within the body. Another attempt can succeed.
 */
export class IncompleteAnswerError extends EvenShardsError {
  /** @param operation the operation of the service, such as `Query` */
  constructor(operation: string, expected: string, options?: ErrorOptions) {
    super('INCOMPLETE_ANSWER', `the answer to ${operation} must hold ${expected}`, options);
  }
}
