import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Pool } from 'pg';
import { OutboxReport } from '../../../../lambda/outbox-relay/outbox-report';
import type { OutboxRelay, RelaySummary } from '../../../../lib/core/outbox';

const NOTHING: RelaySummary = { relayed: 0, parked: 0, rejections: 0, givenUp: 0, reconnects: 0 };
const LAG = { waiting_rows: '7', waiting_seconds: 1.5, parked_rows: '2', rejected_rows: '1' };

describe('what the relay reports', () => {
  let lines: Record<string, unknown>[];
  let warnings: string[];
  let summary: RelaySummary;
  let lag: () => Promise<{ rows: unknown[] }>;

  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
    warnings = [];
    summary = { ...NOTHING };
    lag = async () => ({ rows: [LAG] });
    jest.spyOn(console, 'warn').mockImplementation(({ message }) => warnings.push(message));
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  function report(statements: object[] = []): OutboxReport {
    const metrics = new Metrics({ namespace: 'EvenShards' });
    jest.spyOn(metrics, 'publishStoredMetrics').mockImplementation(() => {
      lines.push(metrics.serializeMetrics() as never);
      metrics.clearMetrics();
      return metrics;
    });
    return new OutboxReport(
      {
        query: (query: object) => {
          statements.push(query);
          return lag();
        },
      } as unknown as Pool,
      { summary: () => ({ ...summary }) } as OutboxRelay,
      metrics,
      'orders',
    );
  }

  test('is what it did since the last report, twice a minute and at the end, and what waits', async () => {
    const statements: object[] = [];
    const running = report(statements);
    running.start();
    summary = { ...NOTHING, relayed: 100, rejections: 3 };
    await jest.advanceTimersByTimeAsync(30_000);
    summary = { ...NOTHING, relayed: 150, rejections: 3, givenUp: 1 };
    await running.stop(5_000);
    await jest.advanceTimersByTimeAsync(120_000);
    expect(lines).toMatchObject([
      { RelayedRows: 100, Rejections: 3, GivenUpRows: 0, WaitingRows: 7, WaitingSeconds: 1.5, ParkedRows: 2 },
      { RelayedRows: 50, Rejections: 0, GivenUpRows: 1 },
    ]);
    expect(statements).toMatchObject(Array(2).fill({ text: 'SELECT * FROM orders.lag()' }));
  });

  test('goes out without the lag when the database does not answer', async () => {
    lag = () => Promise.reject(new Error('connection lost'));
    summary = { ...NOTHING, relayed: 5 };
    await report().stop(5_000);
    expect(lines).toMatchObject([{ RelayedRows: 5 }]);
    expect(lines[0]).not.toHaveProperty('WaitingRows');
    expect(warnings).toEqual(['the lag is not known']);
  });
});
