import { binarySearch } from '../core/kernel/binary-search';
import type { Series } from './metric-math';

interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** How CloudWatch combines the samples of a period into one value. */
export type Statistic = 'Sum' | 'Average' | 'Maximum' | 'Minimum' | 'SampleCount';

/** Samples that are older than this time are deleted. The alarms of this library read at most 30 hours. */
const RETENTION_MS = 48 * 60 * 60 * 1_000;

const STATISTICS: Readonly<Record<Statistic, (values: readonly number[]) => number>> = {
  Sum: (values) => values.reduce((sum, value) => sum + value, 0),
  Average: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  Maximum: (values) => Math.max(...values),
  Minimum: (values) => Math.min(...values),
  SampleCount: (values) => values.length,
};

/** The samples of one metric, by the time of their measurement. */
export class MetricSamples {
  /** Sorted by `atMs`. */
  private readonly samples: Sample[] = [];

  add(atMs: number, value: number): void {
    const { samples } = this;
    let index = samples.length;
    while (index > 0 && samples[index - 1]!.atMs > atMs) index -= 1;
    samples.splice(index, 0, { atMs, value });
    if (samples.length > 4_096 && samples[0]!.atMs < atMs - RETENTION_MS) {
      samples.splice(0, this.firstAt(atMs - RETENTION_MS));
    }
  }

  /** The statistic of each period, or NaN for a period without samples. The last period ends at `endMs`. */
  series(statistic: Statistic, periodMs: number, periods: number, endMs: number): Series {
    const summarise = STATISTICS[statistic];
    const values: number[] = Array(periods).fill(Number.NaN);
    let from = this.firstAt(endMs - periods * periodMs);
    for (let period = 0; period < periods; period += 1) {
      const periodEndMs = endMs - (periods - 1 - period) * periodMs;
      const inPeriod: number[] = [];
      for (; from < this.samples.length && this.samples[from]!.atMs < periodEndMs; from += 1) {
        inPeriod.push(this.samples[from]!.value);
      }
      if (inPeriod.length > 0) values[period] = summarise(inPeriod);
    }
    return values;
  }

  private firstAt(atMs: number): number {
    return binarySearch(0, this.samples.length, (index) => this.samples[index]!.atMs >= atMs);
  }
}
