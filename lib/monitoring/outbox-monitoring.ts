import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { constructField, inUnit } from '../construct/props-checks';
import { OUTBOX_METRICS } from '../core/contract/function-metrics';
import type { IOutboxRelayFunction } from '../outbox/outbox-relay-function';
import {
  type AlarmDefinition,
  ONE_OF_FIVE_MINUTES,
  REPORTING_PERIOD,
  seeMonitoring,
  type WatchedAlarms,
} from './alarm-definition';
import { functionFailures } from './function-monitoring';
import { graph, lines, type Rows } from './graphs';
import { reportedOrSilent } from './silence';

/** What is watched of an `OutboxRelayFunction`. */
export interface OutboxMonitoringOptions {
  /**
   * Whether to raise an alarm when rows wait too long, or nothing relays them.
   *
   * @default true
   */
  readonly lagAlarm?: boolean;

  /**
   * How long a row may wait, in six of nine minutes.
   *
   * @default - 5 minutes
   */
  readonly maxLag?: Duration;

  /**
   * Whether to raise an alarm when a row is rejected or an invocation fails.
   *
   * @default true
   */
  readonly failureAlarm?: boolean;

  /**
   * How many rejections and failed invocations a minute may have, together: 0 or more.
   *
   * @default 0
   */
  readonly maxFailures?: number;

  /**
   * Whether to raise an alarm when a verification finds rows that were passed, and that nobody will send.
   *
   * @default true
   */
  readonly missingRowsAlarm?: boolean;

  /**
   * Whether to raise an alarm when the relay refuses to run.
   *
   * @default true
   */
  readonly refusalAlarm?: boolean;
}

/** The alarms of the relay of an outbox. One that is switched off is absent. */
export interface OutboxAlarms extends WatchedAlarms {
  /** Rows wait too long, or nothing relays them. */
  readonly lag?: cloudwatch.Alarm;
  /** Rows are rejected, or the function fails. */
  readonly failures?: cloudwatch.Alarm;
  /** Rows are missing. */
  readonly missingRows?: cloudwatch.Alarm;
  /** The relay refuses to run. */
  readonly refusals?: cloudwatch.Alarm;
}

/** Metrics that are three minutes late look like three silent minutes. The others are those in which the relay was last heard of. */
const SIX_OF_NINE_MINUTES = { evaluationPeriods: 9, datapointsToAlarm: 6 };

export function outboxLag(
  monitoring: IConstruct,
  relay: IOutboxRelayFunction,
  { maxLag = Duration.minutes(5) }: OutboxMonitoringOptions,
): AlarmDefinition {
  const limit = inUnit(constructField(monitoring, 'maxLag'), maxLag, 'Duration.seconds', () => maxLag.toSeconds());
  const waiting = relay.metric(OUTBOX_METRICS.waitingSeconds, { period: REPORTING_PERIOD });
  return {
    severity: 'page',
    metric: reportedOrSilent(relay, 'seconds that the oldest row waits', waiting, limit),
    description:
      `Rows of the outbox that ${relay.functionName} relays wait for ${maxLag.toHumanString()} or more, or nothing ` +
      'relays them. If the function fails, its log says why. If rows are parked, see the columns partition_key and ' +
      'last_error of the table parked. If neither is so, more rows come than go: give the stream more shards if it refuses ' +
      'records, else give the function more memory.' +
      seeMonitoring('rows-of-an-outbox-wait'),
    threshold: limit,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    ...SIX_OF_NINE_MINUTES,
    treatMissingData: cloudwatch.TreatMissingData.IGNORE,
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

export function outboxMissingRows(relay: IOutboxRelayFunction): AlarmDefinition {
  return {
    severity: 'page',
    metric: relay.metric(OUTBOX_METRICS.missingRows, { period: REPORTING_PERIOD }),
    description:
      `The outbox that ${relay.functionName} relays has rows that were passed, though nothing says that the stream has them: ` +
      'nobody will send them. They are still there, and the table missing names them. Put them again, and report this fault ' +
      `of the library.${seeMonitoring('rows-of-an-outbox-are-missing')}`,
    ...ONE_OF_FIVE_MINUTES,
    threshold: 0,
  };
}

export function outboxRefusals(relay: IOutboxRelayFunction): AlarmDefinition {
  return {
    severity: 'page',
    metric: relay.metric(OUTBOX_METRICS.refusals, { period: REPORTING_PERIOD }),
    description:
      `The outbox relay ${relay.functionName} refuses to run, so no row is sent: each invocation ends with the same error. Its ` +
      'log has the error, with a code and what to change.' +
      seeMonitoring('an-outbox-relay-refuses-to-run'),
    ...ONE_OF_FIVE_MINUTES,
    threshold: 0,
  };
}

export function outboxWidgets(relay: IOutboxRelayFunction, alarms: OutboxAlarms): Rows {
  const period = REPORTING_PERIOD;
  return [
    [
      graph(
        'How long rows wait, in seconds',
        [relay.metric(OUTBOX_METRICS.waitingSeconds, { label: 'the oldest row', period })],
        {
          leftAnnotations: lines(alarms.lag),
        },
      ),
      graph(
        'Rows that wait',
        [
          relay.metric(OUTBOX_METRICS.waitingRows, { label: 'all', period }),
          relay.metric(OUTBOX_METRICS.parkedRows, { label: 'parked with their key', period }),
        ],
        {
          right: [relay.metric(OUTBOX_METRICS.missingRows, { label: 'missing', period })],
          rightAnnotations: lines(alarms.missingRows, 'alarm of missing rows'),
        },
      ),
      graph('Rows relayed', [relay.metric(OUTBOX_METRICS.relayedRows, { label: 'relayed', period })], {
        right: [
          relay.metric(OUTBOX_METRICS.rejections, { label: 'rejections', period }),
          relay.metric(OUTBOX_METRICS.givenUpRows, { label: 'given up', period }),
          relay.metric(OUTBOX_METRICS.refusals, { label: 'runs refused', period }),
        ],
        rightAnnotations: lines(alarms.failures, 'alarm of rejections'),
      }),
    ],
  ];
}
