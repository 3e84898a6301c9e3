import { FakeCloudWatch } from '../../../lib/testing/fake-cloudwatch';
import { type Measured, measuredOf, metricsOf, watchedAlarms } from './watched-alarms';

const MINUTE = 60_000;

const alarms = watchedAlarms();

/** An alarm of `ShardMonitoring` that evaluates metric values minute by minute. */
export class AlarmInPlay {
  private readonly cloudWatch = new FakeCloudWatch();
  private minutes = 0;

  /** @param id the logical id of the alarm without hashes */
  constructor(private readonly id: string) {
    this.cloudWatch.putMetricAlarm(id, alarms.get(id)!);
  }

  /** Adds a minute with these metric values. Returns whether the alarm is raised at the end of the minute. */
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
