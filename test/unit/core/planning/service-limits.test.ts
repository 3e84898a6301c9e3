import { describeExceeded, planIndex, planStream } from '../../../../lib/core';

describe('AWS limits in a plan', () => {
  test('a plan with 25 enhanced fan-out consumers exceeds a limit that AWS does not increase', () => {
    const { exceeded } = planStream({ recordsPerSecond: 5_000, bytesPerSecond: 4e6, enhancedFanOutConsumers: 25 });
    expect(exceeded.map(describeExceeded)).toEqual([
      'AWS allows 20 consumers with enhanced fan-out of a stream (50 in On-demand Advantage mode, in some Regions only), ' +
        'and the plan needs 25: this limit cannot be increased',
    ]);
  });

  test('a plan exactly at a limit exceeds no limit', () => {
    expect(planStream({ recordsPerSecond: 5_000, bytesPerSecond: 4e6, enhancedFanOutConsumers: 20 }).exceeded).toEqual(
      [],
    );
    expect(planStream({ recordsPerSecond: 750_000, bytesPerSecond: 1e6 })).toMatchObject({
      shards: 1_000,
      exceeded: [],
    });
  });

  test('a plan with more shards than the default quota of an account names Service Quotas', () => {
    const { exceeded } = planStream({ recordsPerSecond: 750_001, bytesPerSecond: 1e6 });
    expect(exceeded).toMatchObject([
      { value: 1_000, needed: 1_001, increasedBy: expect.stringContaining('Service Quotas') },
    ]);
  });

  test('a plan with more write units than the default quota of a table names Service Quotas', () => {
    const traffic = { writesPerSecond: 40_001, utilization: 0.25, partitions: 400 };
    expect(planIndex(traffic).exceeded.map(describeExceeded)).toEqual([
      'AWS allows 40,000 write units a second of a table, or of an index, and the plan needs 40,001: ' +
        'request an increase: Service Quotas, Amazon DynamoDB, table-level write throughput',
    ]);
  });
});
