import { InvalidArgumentError } from '../errors';

/** @throws InvalidArgumentError unless a page can be bounded by so many bytes, as this option measures them */
export function checkPageBytes(maxPageBytes: unknown, measureField: string, measure: unknown): void {
  if (maxPageBytes !== undefined && !(Number.isFinite(maxPageBytes) && (maxPageBytes as number) >= 1)) {
    throw new InvalidArgumentError('maxPageBytes', maxPageBytes, 'a number of bytes of at least 1');
  }
  if (measure !== undefined && typeof measure !== 'function') {
    throw new InvalidArgumentError(measureField, measure, 'a function that returns a number of bytes');
  }
}
