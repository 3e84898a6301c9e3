import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { constructField } from '../construct/construct-field';
import { inUnit } from '../construct/token-unit';
import { OUTBOX_METRICS } from '../core/foundation/function-metrics';
import type { IOutboxRelayFunction } from '../outbox/outbox-relay-function';
import { type AlarmDefinition, REPORTING_PERIOD, seeMonitoring } from './alarm-definition';
import { functionFailures } from './function-failures';
import type { OutboxMonitoringOptions } from './monitoring-options';

/** The alarms of the relay of an outbox. One that is switched off is absent. */
export interface OutboxAlarms {
  /** Rows wait too long, or nothing relays them. */
  readonly lag?: cloudwatch.Alarm;
  /** Rows are rejected, or the function fails. */
  readonly failures?: cloudwatch.Alarm;
}

export function outboxLag(
  monitoring: IConstruct,
  relay: IOutboxRelayFunction,
  { maxLag = Duration.minutes(5) }: OutboxMonitoringOptions,
): AlarmDefinition {
  return {
    metric: relay.metric(OUTBOX_METRICS.waitingSeconds, { period: REPORTING_PERIOD }),
    description:
      `Rows of the outbox that ${relay.functionName} relays wait for ${maxLag.toHumanString()} or more, or nothing ` +
      'relays them. If the function fails, its log says why. If rows are parked, see the columns partition_key and ' +
      'last_error of the table parked. If neither is so, more rows come than go: give the stream more shards if it refuses ' +
      'records, else give the function more memory.' +
      seeMonitoring('rows-of-an-outbox-wait'),
    threshold: inUnit(constructField(monitoring, 'maxLag'), maxLag, 'Duration.seconds', () => maxLag.toSeconds()),
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: 5,
    // A relay that does not run writes nothing.
    treatMissingData: cloudwatch.TreatMissingData.BREACHING,
  };
}

export function outboxFailures(
  monitoring: IConstruct,
  relay: IOutboxRelayFunction,
  { maxFailures = 0 }: OutboxMonitoringOptions,
): AlarmDefinition {
  return functionFailures(monitoring, relay, maxFailures, {
    failed: relay.metric(OUTBOX_METRICS.rejections, { period: REPORTING_PERIOD }),
    label: 'rows rejected and invocations failed',
    description:
      `The outbox relay ${relay.functionName} has rows that the stream does not take, or fails. Its log says why, in the ` +
      'lines "row rejected" and in those of failed invocations. The rows are in the tables parked and rejected of the ' +
      `outbox.${seeMonitoring('failures-of-an-outbox-relay')}`,
  });
}
