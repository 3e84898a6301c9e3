import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Pool } from 'pg';
import { OUTBOX_METRICS } from '../../lib/core/foundation/function-metrics';
import { DEFAULT_OUTBOX_SCHEMA } from '../../lib/core/outbox/outbox-migrations';
import type { OutboxRelay } from '../../lib/core/outbox/outbox-relay';
import { noRelaySummary } from '../../lib/core/outbox/relay-summary';
import { loggableMessage } from '../loggable';

const REPORT_MS = 30_000;

/** Writes what the relay does and what waits, now and then, and at the end. */
export class OutboxReport {
  private reported = noRelaySummary();
  private timer?: NodeJS.Timeout;

  constructor(
    private readonly pool: Pool,
    private readonly relay: OutboxRelay,
    private readonly metrics: Metrics,
    private readonly schema: string = DEFAULT_OUTBOX_SCHEMA,
  ) {}

  start(): void {
    this.timer = setInterval(() => void this.report(), REPORT_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.report();
  }

  private async report(): Promise<void> {
    const summary = this.relay.summary();
    const { relayed, rejections, givenUp } = this.reported;
    this.reported = summary;
    const add = (name: keyof typeof OUTBOX_METRICS, value: number, unit: MetricUnitOf = MetricUnit.Count): void => {
      this.metrics.addMetric(OUTBOX_METRICS[name], unit, value);
    };
    add('relayedRows', summary.relayed - relayed);
    add('rejections', summary.rejections - rejections);
    add('givenUpRows', summary.givenUp - givenUp);
    try {
      const { rows } = await this.pool.query(`SELECT * FROM ${this.schema}.lag()`);
      add('waitingRows', Number(rows[0].waiting_rows));
      add('waitingSeconds', rows[0].waiting_seconds, MetricUnit.Seconds);
      add('parkedRows', Number(rows[0].parked_rows));
    } catch (error) {
      console.warn({ message: 'the lag is not known', cause: loggableMessage(error as Error) });
    }
    this.metrics.publishStoredMetrics();
  }
}

type MetricUnitOf = (typeof MetricUnit)[keyof typeof MetricUnit];
