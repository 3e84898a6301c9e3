import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { OUTBOX_METRICS } from '../../lib/core/contract/function-metrics';
import { callWithin } from '../../lib/core/kernel/call-within';
import type { OutboxRelay } from '../../lib/core/outbox/outbox-relay';
import { noRelaySummary } from '../../lib/core/outbox/relay-summary';
import { loggableMessage } from '../loggable';

const REPORT_MS = 30_000;

/**
 * The timeout of the query for waiting rows. The query is fast, because waiting rows are in a few small tables. A query
 * that takes longer waits for a lock, or for a server that does not respond.
 */
const MAX_QUERY_MS = 10_000;

/** Writes metrics of the relay and of the waiting rows every 30 seconds, and at the end of an invocation. */
export class OutboxReport {
  private reported = noRelaySummary();
  private timer?: NodeJS.Timeout;

  constructor(
    private readonly relay: OutboxRelay,
    private readonly metrics: Metrics,
  ) {}

  start(): void {
    this.timer = setInterval(() => void this.report(MAX_QUERY_MS), REPORT_MS);
  }

  /** Writes the last report within `withinMs` milliseconds. */
  async stop(withinMs: number): Promise<void> {
    clearInterval(this.timer);
    await this.report(Math.min(withinMs, MAX_QUERY_MS));
  }

  private async report(withinMs: number): Promise<void> {
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
      // The timeout also limits the time for a new connection, and the wait for a Postgres server that does not
      // respond.
      const found = await callWithin({ ms: withinMs }, () => this.relay.verify());
      add('waitingRows', found.waitingRows);
      add('waitingSeconds', found.waitingSeconds, MetricUnit.Seconds);
      add('parkedRows', found.parkedRows);
      add('missingRows', found.missingRows);
      if (found.missingRows > 0)
        console.error({ message: 'rows are missing', ids: found.missing.map(({ id }) => `${id}`) });
    } catch (error) {
      console.warn({ message: 'could not read the number of waiting rows', cause: loggableMessage(error as Error) });
    }
    this.metrics.publishStoredMetrics();
  }
}

type MetricUnitOf = (typeof MetricUnit)[keyof typeof MetricUnit];
