import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CachedStack } from '../stacks/cached-stack';
import { ConsumedStack } from '../stacks/consumed-stack';
import { ControlledStack } from '../stacks/controlled-stack';
import { RelayStack } from '../stacks/relay-stack';
import { WatchedStack } from '../stacks/watched-stack';

/** A name of the maximum length that a table, a stream or a function can have. */
const LONGEST_NAME = 'n'.repeat(255);

/** The description of each alarm, by alarm id. The longest possible name replaces each token. */
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
