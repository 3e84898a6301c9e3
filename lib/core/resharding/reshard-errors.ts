import { EvenShardsError } from '../foundation/errors';
import { allowedAgainAt, DAILY_UPDATES, type PastUpdate } from './update-history';

/** A stream whose shards are not ours to count: one in on-demand mode, or one that is being deleted. */
export class StreamNotReshardableError extends EvenShardsError {
  constructor(
    readonly streamName: string,
    reason: string,
  ) {
    super('STREAM_NOT_RESHARDABLE', `${streamName} cannot be resharded: ${reason}`);
  }
}

/** More updates of the shard count than the stream may have in 24 hours. */
export class DailyUpdateLimitError extends EvenShardsError {
  /** When the updates are allowed again, as far as this library made those that are counted. */
  readonly allowedAgainAt: Date | undefined;

  /** @internal */
  constructor(
    readonly streamName: string,
    /** How many updates it takes. */
    readonly updates: number,
    /** The updates of the last 24 hours that are known, oldest first. */
    history: readonly PastUpdate[],
    options?: ErrorOptions & { refusal?: string },
  ) {
    const again = allowedAgainAt(history, updates);
    const refused = options?.refusal === undefined ? '' : `: ${options.refusal}`;
    super(
      'DAILY_UPDATE_LIMIT',
      `${streamName} needs ${updates} more update(s) of its shard count, and Kinesis allows ${DAILY_UPDATES} in any ` +
        `24 hours, of which ${history.length} are known to be used${refused}; ${waitUntil(again, updates)}`,
      options,
    );
    this.allowedAgainAt = again;
  }
}

function waitUntil(again: Date | undefined, updates: number): string {
  if (updates > DAILY_UPDATES) return `go to the count in parts, at most ${DAILY_UPDATES} doublings or halvings a day`;
  return again === undefined
    ? 'others have used the rest, which are allowed again within 24 hours'
    : `they are allowed again at ${again.toISOString()}`;
}

/** A stream that is still on its way to its shard count when nobody can wait for it any longer. */
export class ReshardTimeOutError extends EvenShardsError {
  constructor(target: { streamName: string; shardCount: number }, openShardCount: number, elapsedMs: number) {
    super(
      'RESHARD_TIME_OUT',
      `${target.streamName} has ${openShardCount} of ${target.shardCount} shards after ` +
        `${Math.round(elapsedMs / 60_000)} minutes; run the same again, it goes on where it stands`,
    );
  }
}
