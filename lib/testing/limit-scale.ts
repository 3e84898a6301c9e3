import { InvalidArgumentError } from '../core/kernel/errors';

/** The clock that limits of a service follow, and their scale. */
export interface ServiceLimitsOptions {
  /** The time in milliseconds; it never goes back. */
  now(): number;
  /**
   * What each limit is multiplied with: 0.1 lets a laptop reach what takes a fleet on AWS. Above 0.
   * @default 1, as the service has it
   */
  scale?: number;
}

export function checkScale(scale: number): number {
  if (Number.isFinite(scale) && scale > 0) return scale;
  throw new InvalidArgumentError('scale', scale, 'a number above 0');
}
