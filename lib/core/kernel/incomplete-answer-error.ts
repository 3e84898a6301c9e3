import { EvenShardsError } from './errors';

/**
 * The response of a service is empty, is cut off, or lacks a required field. The cause can be a proxy, or a connection
 * that was lost while the body was read. A retry can succeed.
 */
export class IncompleteAnswerError extends EvenShardsError {
  /** @param operation the operation of the service, such as `Query` */
  constructor(operation: string, expected: string, options?: ErrorOptions) {
    super('INCOMPLETE_ANSWER', `the response of ${operation} must contain ${expected}`, options);
  }
}
