import { EvenShardsError } from '../kernel/errors';
import { allowedAgainAt, DAILY_UPDATES, type PastUpdate, updatesMade } from './update-history';

/** A stream cannot be resharded because it is in on-demand mode, or because it is being deleted. */
export class StreamNotReshardableError extends EvenShardsError {
  constructor(
    /** The name of the stream. */
    readonly streamName: string,
    reason: string,
  ) {
    super('STREAM_NOT_RESHARDABLE', `${streamName} cannot be resharded: ${reason}`);
  }
}

/** A change needs more updates of the shard count than Kinesis still allows for the stream in the current 24 hours. */
export class DailyUpdateLimitError extends EvenShardsError {
  /**
   * When the updates are allowed again. Undefined if other programs have made some of the updates, because the times of those
   * updates are not known.
   */
  readonly allowedAgainAt: Date | undefined;

  /** @internal */
  constructor(
    /** The name of the stream. */
    readonly streamName: string,
    /** How many updates the change needs. */
    readonly updates: number,
    /** The known updates of the last 24 hours, oldest first. */
    history: readonly PastUpdate[],
    options?: ErrorOptions & { rejection?: string },
  ) {
    const again = allowedAgainAt(history, updates);
    const rejection = options?.rejection === undefined ? '' : `: ${options.rejection}`;
    super(
      'DAILY_UPDATE_LIMIT',
      `${streamName} needs ${updates} more update(s) of its shard count; Kinesis allows ${DAILY_UPDATES} in any ` +
        `24 hours, and at least ${updatesMade(history).length} are used${rejection}; ${waitUntil(again, updates)}`,
      options,
    );
    this.allowedAgainAt = again;
  }
}

function waitUntil(again: Date | undefined, updates: number): string {
  if (updates > DAILY_UPDATES)
    return `change the count in parts, with at most ${DAILY_UPDATES} doublings or halvings a day`;
  return again === undefined
    ? 'other programs have used the rest, so the updates are allowed again within 24 hours'
    : `they are allowed again at ${again.toISOString()}`;
}

/** A stream did not reach its shard count in the allowed time. Reshard the stream again to continue. */
export class ReshardTimeOutError extends EvenShardsError {
  constructor(target: { streamName: string; shardCount: number }, openShardCount: number, elapsedMs: number) {
    super(
      'RESHARD_TIME_OUT',
      `${target.streamName} has ${openShardCount} of ${target.shardCount} shards after ` +
        `${Math.round(elapsedMs / 60_000)} minutes; run it again to continue`,
    );
  }
}

/** A deployment or another program changes the stream to another shard count, so this reshard stops. */
export class ReshardSupersededError extends EvenShardsError {
  constructor(
    target: { streamName: string; shardCount: number },
    /** The shard count that the deployment requires, or that the stream has now. */
    readonly supersededBy: number,
    by: 'deployment' | 'other',
  ) {
    const { streamName, shardCount } = target;
    super(
      'RESHARD_SUPERSEDED',
      by === 'deployment'
        ? `a deployment changes ${streamName} to ${supersededBy} shards, so the change to ${shardCount} shards stopped; ` +
            `if ${shardCount} is the right count, try again in an hour`
        : `another program has changed ${streamName} to ${supersededBy} shards, so the change to ${shardCount} shards stopped`,
    );
  }
}
