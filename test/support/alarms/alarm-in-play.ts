import { FakeCloudWatch } from '../../../lib/testing/fake-cloudwatch';
import { type Measured, measuredOf, metricsOf, watchedAlarms } from './watched-alarms';

const MINUTE = 60_000;

const alarms = watchedAlarms();

/** One of the alarms that `ShardMonitoring` makes, told minute by minute what was measured. */
export class AlarmInPlay {
  private readonly cloudWatch = new FakeCloudWatch();
  private minutes = 0;

  /** By its id in the template, without hashes. */
  constructor(private readonly id: string) {
    this.cloudWatch.putMetricAlarm(id, alarms.get(id)!);
  }

  /** A minute goes by in which these metrics had these values, and others none. Tells whether the alarm is raised then. */
  minute(measured: Measured): boolean {
    for (const metric of metricsOf(alarms.get(this.id)!)) {
      const Value = measuredOf(metric, measured);
      if (Value !== undefined) this.cloudWatch.putMetricData({ ...metric, Value, atMs: this.minutes * MINUTE });
    }
    this.minutes += 1;
    this.cloudWatch.evaluate(this.minutes * MINUTE);
    return this.isRaised;
  }

  get isRaised(): boolean {
    return this.cloudWatch.stateOf(this.id) === 'ALARM';
  }
}
