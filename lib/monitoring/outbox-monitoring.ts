import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { Props } from '../construct/props';
import { OUTBOX_METRICS } from '../core/contract/function-metrics';
import type { IOutboxRelayFunction } from '../outbox/outbox-relay-function';
import {
  type AlarmTable,
  ONE_OF_FIVE_MINUTES,
  REPORTING_PERIOD,
  seeMonitoring,
  type WatchedAlarms,
} from './alarm-definition';
import { functionFailures } from './function-monitoring';
import { graph, lines, type Rows } from './graphs';
import { reportedOrSilent } from './silence';
import type { Watch } from './watch';

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
   * How many rejections and failed invocations a minute may have, together: 0 or more.
   *
   * @default 0
   */
  readonly maxFailures?: number;
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

export const outboxWatch: Watch<IOutboxRelayFunction, OutboxMonitoringOptions, OutboxAlarms> = {
  method: 'addOutbox',
  kind: 'a relay',
  resource: (relay) => relay,
  title: ({ functionName }) => `Outbox relay ${functionName}`,
  alarms: outboxAlarms,
  widgets: outboxWidgets,
};

function outboxAlarms(
  monitoring: IConstruct,
  relay: IOutboxRelayFunction,
  options: OutboxMonitoringOptions,
): AlarmTable<OutboxAlarms> {
  const props = Props.of(monitoring, options, { maxLag: Duration.minutes(5), maxFailures: 0 });
  const limit = props.seconds('maxLag');
  const period = REPORTING_PERIOD;
  const waiting = relay.metric(OUTBOX_METRICS.waitingSeconds, { period });
  return {
    lag: {
      isOn: options.lagAlarm,
      severity: 'page',
      metric: reportedOrSilent(relay, 'seconds that the oldest row waits', waiting, limit),
      description:
        `Rows of the outbox that ${relay.functionName} relays wait for ${props.value('maxLag').toHumanString()} or more, or nothing ` +
        'relays them. If the function fails, its log says why. If rows are parked, see the columns partition_key and ' +
        'last_error of the table parked. If neither is so, more rows come than go: give the stream more shards if it throttles ' +
        'records, else give the function more memory.' +
        seeMonitoring('rows-of-an-outbox-wait'),
      threshold: limit,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      ...SIX_OF_NINE_MINUTES,
      treatMissingData: cloudwatch.TreatMissingData.IGNORE,
    },
    failures: functionFailures(relay, {
      failed: relay.metric(OUTBOX_METRICS.rejections, { period }),
      label: 'rows rejected and invocations failed',
      description:
        `The outbox relay ${relay.functionName} has rows that the stream does not take, or fails. Its log says why, in the ` +
        'lines "row rejected" and in those of failed invocations. The rows are in the tables parked and rejected of the ' +
        `outbox.${seeMonitoring('failures-of-an-outbox-relay')}`,
      threshold: props.number('maxFailures', { min: 0 }),
    }),
    missingRows: {
      severity: 'page',
      metric: relay.metric(OUTBOX_METRICS.missingRows, { period }),
      description:
        `The outbox that ${relay.functionName} relays has rows that were passed, though nothing says that the stream has them: ` +
        'nobody will send them. They are still there, and the table missing names them. Put them again, and report this fault ' +
        `of the library.${seeMonitoring('rows-of-an-outbox-are-missing')}`,
      ...ONE_OF_FIVE_MINUTES,
      threshold: 0,
    },
    refusals: {
      severity: 'page',
      metric: relay.metric(OUTBOX_METRICS.refusals, { period }),
      description:
        `The outbox relay ${relay.functionName} refuses to run, so no row is sent: each invocation ends with the same error. Its ` +
        'log has the error, with a code and what to change.' +
        seeMonitoring('an-outbox-relay-refuses-to-run'),
      ...ONE_OF_FIVE_MINUTES,
      threshold: 0,
    },
  };
}

function outboxWidgets(relay: IOutboxRelayFunction, alarms: OutboxAlarms): Rows {
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
