import { Metrics } from '@aws-lambda-powertools/metrics';
import { OutboxReport } from '../../../../lambda/outbox-relay/outbox-report';
import type { OutboxRelay, OutboxVerification, RelaySummary } from '../../../../lib/core/outbox';

const NOTHING: RelaySummary = { relayed: 0, parked: 0, rejections: 0, givenUp: 0, reconnects: 0 };
const FOUND: OutboxVerification = {
  verifiedRows: 3,
  waitingRows: 7,
  waitingSeconds: 1.5,
  parkedRows: 2,
  rejectedRows: 1,
  missingRows: 0,
  missing: [],
};

describe('OutboxReport', () => {
  let lines: Record<string, unknown>[];
  let warnings: string[];
  let summary: RelaySummary;
  let verify: () => Promise<OutboxVerification>;

  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
    warnings = [];
    summary = { ...NOTHING };
    verify = async () => FOUND;
    jest.spyOn(console, 'warn').mockImplementation(({ message }) => warnings.push(message));
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  function report(): OutboxReport {
    const metrics = new Metrics({ namespace: 'EvenShards' });
    jest.spyOn(metrics, 'publishStoredMetrics').mockImplementation(() => {
      lines.push(metrics.serializeMetrics() as never);
      metrics.clearMetrics();
      return metrics;
    });
    return new OutboxReport({ summary: () => ({ ...summary }), verify: () => verify() } as OutboxRelay, metrics);
  }

  test('publishes the number of rows sent since the previous report and the number of waiting rows, every 30 seconds and when it stops', async () => {
    const running = report();
    running.start();
    summary = { ...NOTHING, relayed: 100, rejections: 3 };
    await jest.advanceTimersByTimeAsync(30_000);
    summary = { ...NOTHING, relayed: 150, rejections: 3, givenUp: 1 };
    await running.stop(5_000);
    await jest.advanceTimersByTimeAsync(120_000);
    expect(lines).toMatchObject([
      {
        RelayedRows: 100,
        Rejections: 3,
        GivenUpRows: 0,
        WaitingRows: 7,
        WaitingSeconds: 1.5,
        ParkedRows: 2,
        MissingRows: 0,
      },
      { RelayedRows: 50, Rejections: 0, GivenUpRows: 1 },
    ]);
  });

  test('publishes its other metrics, but not the lag, if the database does not respond', async () => {
    verify = () => Promise.reject(new Error('connection lost'));
    summary = { ...NOTHING, relayed: 5 };
    await report().stop(5_000);
    expect(lines).toMatchObject([{ RelayedRows: 5 }]);
    expect(lines[0]).not.toHaveProperty('WaitingRows');
    expect(warnings).toEqual(['could not read the number of waiting rows']);
  });

  test('logs the ids of missing rows', async () => {
    const errors = jest.spyOn(console, 'error').mockImplementation(() => {});
    verify = async () => ({ ...FOUND, missingRows: 1, missing: [{ id: 17n, range: 1 }] });
    await report().stop(5_000);
    expect(lines).toMatchObject([{ MissingRows: 1 }]);
    expect(errors).toHaveBeenCalledWith({ message: 'rows are missing', ids: ['17'] });
  });
});
