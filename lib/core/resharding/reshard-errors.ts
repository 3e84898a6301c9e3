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

/** A change needs more updates of the shard count than Kinesis allows the stream in the current 24 hours. */
export class DailyUpdateLimitError extends EvenShardsError {
  /**
   * When the updates are allowed again. Undefined if this is not known because others have made some of the updates.
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
    options?: ErrorOptions & { refusal?: string },
  ) {
    const again = allowedAgainAt(history, updates);
    const refused = options?.refusal === undefined ? '' : `: ${options.refusal}`;
    super(
      'DAILY_UPDATE_LIMIT',
      `${streamName} needs ${updates} more update(s) of its shard count; Kinesis allows ${DAILY_UPDATES} in any ` +
        `24 hours, and ${updatesMade(history).length} of them are known to be used${refused}; ${waitUntil(again, updates)}`,
      options,
    );
    this.allowedAgainAt = again;
  }
}

function waitUntil(again: Date | undefined, updates: number): string {
  if (updates > DAILY_UPDATES) return `go to the count in parts, at most ${DAILY_UPDATES} doublings or halvings a day`;
  return again === undefined
    ? 'others have used the rest; these updates are allowed again within 24 hours'
    : `they are allowed again at ${again.toISOString()}`;
}

/** A stream did not reach its shard count in the time that was allowed. The work can go on: run it again. */
export class ReshardTimeOutError extends EvenShardsError {
  constructor(target: { streamName: string; shardCount: number }, openShardCount: number, elapsedMs: number) {
    super(
      'RESHARD_TIME_OUT',
      `${target.streamName} has ${openShardCount} of ${target.shardCount} shards after ` +
        `${Math.round(elapsedMs / 60_000)} minutes; run it again to go on from there`,
    );
  }
}

/** A deployment, or someone else, takes the stream to another shard count, so this work ends. */
export class ReshardSupersededError extends EvenShardsError {
  constructor(
    target: { streamName: string; shardCount: number },
    /** The count that the deployment takes the stream to, or that the stream has now. */
    readonly supersededBy: number,
    by: 'deployment' | 'other',
  ) {
    const { streamName, shardCount } = target;
    super(
      'RESHARD_SUPERSEDED',
      by === 'deployment'
        ? `${streamName} is taken to ${supersededBy} shards by a deployment, so it is no longer taken to ${shardCount}; ` +
            'if that is the count it should have, try again in an hour'
        : `${streamName} has ${supersededBy} shards because someone else has changed it, so it is no longer taken to ${shardCount}`,
    );
  }
}
