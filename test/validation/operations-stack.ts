import { type App, Stack } from 'aws-cdk-lib';
import { UniformStream } from '../../lib';

/** Everything that operates streams and indexes, in one stack. */
export class OperationsStack extends Stack {
  constructor(app: App) {
    super(app, 'Operations', { env: { account: '111111111111', region: 'eu-west-1' } });
    const events = new UniformStream(this, 'Events', { shardCount: 32, initialShardCount: 4 });
    events.reconcile({ repair: true });
    const clicks = new UniformStream(this, 'Clicks', { shardCount: 4 });
    clicks.autoScale({ minShards: 2, maxShards: 64 });
    clicks.reconcile();
  }
}
