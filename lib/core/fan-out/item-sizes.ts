/** The minimum weight of a new size in the mean. With this minimum, the influence of older sizes decreases. */
const MIN_WEIGHT = 1 / 1_000;

/** The mean and the standard deviation of the measured sizes of an index's items, in bytes. */
export class ItemSizes {
  private observed: number;
  private variance: number;

  constructor(
    private meanBytes = 0,
    deviation = 0,
  ) {
    this.observed = meanBytes > 0 ? 1 : 0;
    this.variance = deviation ** 2;
  }

  get mean(): number | undefined {
    return this.observed === 0 ? undefined : this.meanBytes;
  }

  get deviation(): number {
    return Math.sqrt(this.variance);
  }

  observe(bytes: number): void {
    this.observed += 1;
    const weight = Math.max(1 / this.observed, MIN_WEIGHT);
    const difference = bytes - this.meanBytes;
    this.meanBytes += weight * difference;
    this.variance = (1 - weight) * (this.variance + weight * difference ** 2);
  }
}
