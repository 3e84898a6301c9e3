import * as entry from '../lib';

test('the entry of the package offers these constructs, and no function or constant of the inside', () => {
  expect(Object.keys(entry).sort()).toEqual([
    'FanOutQueryFunction',
    'FanOutQueryMetrics',
    'HashKeyRegistry',
    'HashKeyRegistryGrants',
    'KeyLayout',
    'OrderedProducerFunction',
    'OrderedProducerMetrics',
    'ProducerFifoQueue',
    'ShardCounts',
    'ShardMonitoring',
    'ShardedIndex',
    'ShardedIndexMetrics',
    'ShardedIndexQueryGrants',
    'ShardedIndexWriteGrants',
    'ShardedTable',
    'ShardingStrategy',
    'StreamAutoScaling',
    'StreamProduceGrants',
    'StreamReconciliation',
    'StreamReshardGrants',
    'StreamResharding',
    'StreamShardMetrics',
    'UniformStream',
  ]);
});
