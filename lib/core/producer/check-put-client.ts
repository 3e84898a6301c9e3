import { InvalidArgumentError } from '../kernel/errors';

/** @throws InvalidArgumentError if the client has no `putRecords` */
export function checkPutClient(client: unknown): void {
  if (typeof Object(client).putRecords === 'function') return;
  throw new InvalidArgumentError('client', client, 'a client with putRecords, such as new Kinesis({})');
}
