import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../../package.json';
import { alarmDescriptions } from '../../support/alarms/alarm-descriptions';
import { anchorsOf } from '../../support/document-links';

const guides = join(__dirname, '..', '..', '..', 'docs', 'guides');

/** The maximum length of an alarm description. Source: the CloudWatch API reference, PutMetricAlarm. */
const MAX_DESCRIPTION = 1_024;

const alarms = alarmDescriptions();

describe('the description of each alarm', () => {
  test('is tested for every alarm in the list of this test', () => {
    const names = alarms.map(([id]) =>
      id.replaceAll(/[0-9A-F]{8}|Monitoring|Watched|Controlled|Cached|Orders|Clicks|Outbox|Consumed|Events/g, ''),
    );
    expect([...new Set(names)].sort()).toEqual([
      'AutoScalingScaleInAlarm',
      'AutoScalingScaleOutAlarm',
      'AutoScalingSurgeAlarm',
      'Behind',
      'BlogsReadThrottles',
      'BlogsWriteThrottles',
      'DaxCpu',
      'DaxFaults',
      'DaxMemory',
      'DaxThrottles',
      'DeadKeys',
      'DeadLettersDepth',
      'HighLoadAtMaximum',
      'InvoicesReadThrottles',
      'InvoicesWriteThrottles',
      'IteratorAge',
      'JobsbyStatusWriteThrottles',
      'KeeperDelay',
      'KeeperNotReading',
      'KeeperSetAside',
      'KeeperStopped',
      'KeeperSweepDue',
      'NoUpdatesLeft',
      'Parked',
      'ProducerFailures',
      'QueryHiddenItems',
      'ReconciliationFailures',
      'ReconciliationStopped',
      'RelayFailures',
      'RelayLag',
      'RelayMissingRows',
      'RelayRefusals',
      'ScalingStopped',
      'Skew',
      'WriteThrottles',
      'byTimeControllerStopped',
      'byTimeValuesAtMaximum',
    ]);
  });

  test.each(alarms)('%s ends with a link to a heading of a guide', (_, description) => {
    const repository = packageJson.repository.url.replace(/\.git$/, '');
    const [, page, anchor] = new RegExp(` See ${repository}/blob/main/docs/guides/([a-z-]+\\.md)#([a-z-]+)$`).exec(
      description,
    )!;
    expect(anchorsOf(readFileSync(join(guides, page!), 'utf8'))).toContain(anchor);
  });

  test.each(alarms)('%s has at most 1,024 characters', (_, description) => {
    expect(description.length).toBeLessThanOrEqual(MAX_DESCRIPTION);
  });
});

test('the guide to monitoring has exactly one heading for each alarm', () => {
  const linked = alarms.flatMap(([, description]) => description.match(/monitoring\.md#([a-z-]+)/)?.[1] ?? []);
  const guide = readFileSync(join(guides, 'monitoring.md'), 'utf8');
  const section = guide.split('\n## Alarms')[1]!.split('\n## ')[0]!;
  expect(new Set(linked)).toEqual(new Set(anchorsOf(section)));
});
