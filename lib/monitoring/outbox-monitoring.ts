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

/** Options of `ShardMonitoring.addOutbox`: thresholds and alarms of the relay. */
export interface OutboxMonitoringOptions {
  /**
   * Whether an alarm is raised when rows wait too long, or when no relay runs.
   *
   * @default true
   */
  readonly lagAlarm?: boolean;

  /**
   * How long the oldest row may wait: at least 1 second. The alarm is raised when the oldest row waits at least this long in six of nine
   * minutes.
   *
   * @default - 5 minutes
   */
  readonly maxLag?: Duration;

  /**
   * The sum of rejections and failed invocations that is allowed in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxFailures?: number;
}

/** The alarms of an outbox relay. An alarm that is switched off is absent. */
export interface OutboxAlarms extends WatchedAlarms {
  /** Rows wait too long, or no relay runs. */
  readonly lag?: cloudwatch.Alarm;
  /** The stream rejects rows, or invocations fail. */
  readonly failures?: cloudwatch.Alarm;
  /** Rows are missing: the relay continued after rows for which no result is recorded. */
  readonly missingRows?: cloudwatch.Alarm;
  /** The relay refuses to run. */
  readonly refusals?: cloudwatch.Alarm;
}

/**
 * Metrics can be three minutes late, so the last three minutes can be without a report although the relay runs. So the
 * alarm needs six minutes without a report, and also evaluates earlier minutes in which the relay reported.
 */
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
  const limit = props.seconds('maxLag', { min: Duration.seconds(1) });
  const period = REPORTING_PERIOD;
  const waiting = relay.metric(OUTBOX_METRICS.waitingSeconds, { period });
  return {
    lag: {
      isOn: options.lagAlarm,
      severity: 'page',
      metric: reportedOrSilent(relay, 'seconds that the oldest row waits', waiting, limit),
      description:
        `Rows of the outbox that ${relay.functionName} relays wait for ${props.value('maxLag').toHumanString()} or more, or no relay ` +
        'runs. If the function fails, its log has the cause. If rows are parked, look at the columns partition_key and ' +
        'last_error of the table parked. Otherwise, writers are faster than the relay: add shards if the stream throttles ' +
        'records, or give the function more memory.' +
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
        `The stream rejects rows of the outbox relay ${relay.functionName}, or its invocations fail. The log has the cause: search for ` +
        '"row rejected" and for failed invocations. The rows are in the tables parked and rejected of the ' +
        `outbox.${seeMonitoring('failures-of-an-outbox-relay')}`,
      threshold: props.number('maxFailures', { min: 0 }),
    }),
    missingRows: {
      severity: 'page',
      metric: relay.metric(OUTBOX_METRICS.missingRows, { period }),
      description:
        `The relay ${relay.functionName} has passed rows of its outbox without a recorded result, so the stream may not have them. ` +
        'The relay does not send these rows. They are still in the outbox, and the table missing has their ids. Put the rows again, and ' +
        `report this bug of the library.${seeMonitoring('rows-of-an-outbox-are-missing')}`,
      ...ONE_OF_FIVE_MINUTES,
      threshold: 0,
    },
    refusals: {
      severity: 'page',
      metric: relay.metric(OUTBOX_METRICS.refusals, { period }),
      description:
        `The outbox relay ${relay.functionName} refuses to run and sends no rows: each invocation ends with the same error. ` +
        'The log has the error, with a code and the change that you need.' +
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
