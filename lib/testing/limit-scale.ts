import { InvalidArgumentError } from '../core/kernel/errors';

/** The clock and the scale of the limits of a service. */
export interface ServiceLimitsOptions {
  /** The time in milliseconds, which never decreases. */
  now(): number;
  /**
   * The factor by which each limit is multiplied, above 0. With 0.1, a laptop can reach limits that would need many machines on
   * AWS.
   * @default 1, the limits of the service
   */
  scale?: number;
}

export function checkScale(scale: number): number {
  if (Number.isFinite(scale) && scale > 0) return scale;
  throw new InvalidArgumentError('scale', scale, 'a number above 0');
}
