import { describeExceeded, planIndex, planStream } from '../../../../lib/core';

describe('the limits of AWS', () => {
  test('25 consumers with enhanced fan-out are what no request gets', () => {
    const { exceeded } = planStream({ recordsPerSecond: 5_000, bytesPerSecond: 4e6, enhancedFanOutConsumers: 25 });
    expect(exceeded.map(describeExceeded)).toEqual([
      'AWS allows 20 consumers with enhanced fan-out of a stream (50 in On-demand Advantage mode, in some Regions only), ' +
        'and this needs 25: this limit cannot be increased',
    ]);
  });

  test('a plan up to a limit exceeds none', () => {
    expect(planStream({ recordsPerSecond: 5_000, bytesPerSecond: 4e6, enhancedFanOutConsumers: 20 }).exceeded).toEqual(
      [],
    );
    expect(planStream({ recordsPerSecond: 750_000, bytesPerSecond: 1e6 })).toMatchObject({
      shards: 1_000,
      exceeded: [],
    });
  });

  test('more shards than an account has in most Regions can be asked for', () => {
    const { exceeded } = planStream({ recordsPerSecond: 750_001, bytesPerSecond: 1e6 });
    expect(exceeded).toMatchObject([
      { value: 1_000, needed: 1_001, increasedBy: expect.stringContaining('Service Quotas') },
    ]);
  });

  test('so can more write units than a table takes', () => {
    const traffic = { writesPerSecond: 40_001, utilization: 0.25, partitions: 400 };
    expect(planIndex(traffic).exceeded.map(describeExceeded)).toEqual([
      'AWS allows 40,000 write units a second of a table, or of an index, and this needs 40,001: ' +
        'request an increase: Service Quotas, Amazon DynamoDB, table-level write throughput',
    ]);
  });
});
