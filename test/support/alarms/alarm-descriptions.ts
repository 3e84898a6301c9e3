import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CachedStack } from '../stacks/cached-stack';
import { ConsumedStack } from '../stacks/consumed-stack';
import { ControlledStack } from '../stacks/controlled-stack';
import { RelayStack } from '../stacks/relay-stack';
import { WatchedStack } from '../stacks/watched-stack';

/** The longest name that a table, a stream or a function has. */
const LONGEST_NAME = 'n'.repeat(255);

/** The descriptions of all alarms by alarm id. Tokens are replaced by the longest possible name. */
export function alarmDescriptions(): [string, string][] {
  const app = new App();
  const watched = new WatchedStack(app);
  const relay = new RelayStack(app);
  relay.monitoring.addOutbox(relay.relay);
  const resources = [watched, relay, new ControlledStack(app), new CachedStack(app), new ConsumedStack(app)].flatMap(
    (stack) => Object.entries(Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm')),
  );
  return resources.map(([id, { Properties }]) => {
    const { AlarmDescription } = Properties;
    const parts: unknown[] = AlarmDescription['Fn::Join']?.[1] ?? [AlarmDescription];
    return [id, parts.map((part) => (typeof part === 'string' ? part : LONGEST_NAME)).join('')];
  });
}
