import { seededRandom } from '../../../lib/testing/seeded-random';

export interface LoadShape {
  readonly name: string;
  /** The maximum demand, in multiples of the capacity of one shard. */
  readonly peak: number;
  /** The part of the demand that goes to one hot shard, from 0 to 1. @default 0 */
  readonly hotShare?: number;
  /** Returns the demand in a minute, in multiples of the capacity of one shard. */
  demandAt(minute: number, minutes: number): number;
}

const DAY = 1_440;

/** Returns a demand that varies between `low` and `high` once per day. */
function diurnal(low: number, high: number): LoadShape['demandAt'] {
  return (minute) => (high + low) / 2 + ((high - low) / 2) * Math.sin((2 * Math.PI * minute) / DAY);
}

const dayAndNight = diurnal(2.5, 20);

/** Bursts of four times the load for 30 to 90 minutes, every 4 to 24 hours. */
const burstMinutes = (() => {
  const random = seededRandom(7);
  const bursting = new Uint8Array(400 * DAY);
  for (let minute = 300; minute < bursting.length; minute += 240 + Math.floor(random() * 1_200)) {
    const end = minute + 30 + Math.floor(random() * 60);
    bursting.fill(1, minute, end);
    minute = end;
  }
  return bursting;
})();

export const LOAD_SHAPES: readonly LoadShape[] = [
  { name: 'constant', peak: 10, demandAt: () => 10 },
  { name: 'day and night, 1:3', peak: 20, demandAt: diurnal(20 / 3, 20) },
  { name: 'day and night, 1:8', peak: 20, demandAt: dayAndNight },
  { name: 'day and night, 1:32', peak: 32, demandAt: diurnal(1, 32) },
  {
    name: 'weekdays and weekends',
    peak: 20,
    demandAt: (minute, minutes) => dayAndNight(minute, minutes) * (Math.floor(minute / DAY) % 7 < 5 ? 1 : 0.35),
  },
  {
    name: 'growth, tenfold',
    peak: 20,
    demandAt: (minute, minutes) =>
      (2 + (18 * minute) / minutes) * (0.75 + 0.25 * Math.sin((2 * Math.PI * minute) / DAY)),
  },
  { name: 'sawtooth of a day', peak: 20, demandAt: (minute) => 2 + (18 * (minute % DAY)) / DAY },
  { name: 'sawtooth of six hours', peak: 16, demandAt: (minute) => 4 + (12 * (minute % 360)) / 360 },
  {
    name: 'office hours, 1:5 at once',
    peak: 20,
    demandAt: (minute) => (minute % DAY >= 540 && minute % DAY < 1_020 ? 20 : 4),
  },
  {
    name: 'bursts, 1:4 at once',
    peak: 20,
    demandAt: (minute) => (burstMinutes[minute % burstMinutes.length] ? 20 : 5),
  },
];

/** Adds random noise of 10 % to the demand of each minute. */
export function withNoise(shape: LoadShape, minutes: number): (minute: number) => number {
  const random = seededRandom(1);
  return (minute) => shape.demandAt(minute, minutes) * (1 + 0.05 * (random() + random() + random() - 1.5));
}
