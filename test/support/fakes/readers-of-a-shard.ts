import { KinesisLimits } from '../../../lib/testing';

/** What is written to the shard, and so what each consumer reads of it. */
const WRITTEN_BYTES_A_MS = 1_000;
/** The most that one answer to GetRecords holds. Source: the Kinesis API reference, GetRecords. */
const MOST_BYTES_OF_A_READ = 10 * 1024 * 1024;
/** What enhanced fan-out gives to one consumer of a shard a second. Source: the Kinesis developer guide, enhanced fan-out consumers. */
const FAN_OUT_BYTES_A_SECOND = 2_000_000;

interface Reader {
  /** When that was written which it reads next. */
  atMs: number;
  hasFanOut: boolean;
}

/**
 * Consumers of a shard that is as full as it can be, each of which reads once a second. Those that poll share what the shard gives;
 * one with enhanced fan-out has as much for itself.
 */
export class ReadersOfAShard {
  private nowMs = 0;
  private readonly limits = new KinesisLimits({ now: () => this.nowMs });
  private readonly readers: Map<string, Reader>;

  constructor(names: readonly string[]) {
    this.readers = new Map(names.map((name) => [name, { atMs: 0, hasFanOut: false }]));
  }

  giveEnhancedFanOut(name: string): void {
    this.readers.get(name)!.hasFanOut = true;
  }

  /** A minute goes by. Returns what CloudWatch measures in it. */
  readAMinute() {
    let refusedReads = 0;
    for (let second = 0; second < 60; second++) {
      this.nowMs += 1_000;
      for (const reader of this.inTurn(second)) if (!this.read(reader)) refusedReads += 1;
    }
    return { refusedReads, iteratorAge: this.age(false), millisBehindLatest: this.age(true) };
  }

  /** Nobody is always the first. */
  private inTurn(second: number): Reader[] {
    const readers = [...this.readers.values()];
    return readers.map((_, place) => readers[(place + second) % readers.length]!);
  }

  private read(reader: Reader): boolean {
    const unreadBytes = (this.nowMs - reader.atMs) * WRITTEN_BYTES_A_MS;
    const bytes = Math.min(unreadBytes, reader.hasFanOut ? FAN_OUT_BYTES_A_SECOND : MOST_BYTES_OF_A_READ);
    if (!reader.hasFanOut) {
      if (!this.limits.takeRead({})) return false;
      this.limits.noteRead({}, bytes);
    }
    reader.atMs += bytes / WRITTEN_BYTES_A_MS;
    return true;
  }

  private age(hasFanOut: boolean): number | undefined {
    const ages = [...this.readers.values()].filter((reader) => reader.hasFanOut === hasFanOut);
    return ages.length === 0 ? undefined : this.nowMs - Math.min(...ages.map(({ atMs }) => atMs));
  }
}
