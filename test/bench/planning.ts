import { BalancedKeyAllocator, hashPartitionKey, shardIndexOf, shardsForOverload, uniformRanges } from '../../lib/core';
import { moreThan } from '../../lib/core/planning/largest-load';
import { printTable } from '../support/guide-table';

/**
 * Compares the exact probability of an overloaded partition with dynamic programming over the partitions: P(n, k) is
 * the sum over j of Binomial(k, 1/n)(j) * P(n - 1, k - j). The baseline is dynamic programming, with a table of the
 * logarithms of factorials and a cache of all results.
 */
function onePartitionAfterTheOther(most: number, shards: number, partitions: number): number {
  const logFactorial = new Float64Array(shards + 1);
  for (let k = 1; k <= shards; k++) logFactorial[k] = logFactorial[k - 1]! + Math.log(k);
  let fits = Float64Array.from({ length: shards + 1 }, (_, k) => (k <= most ? 1 : 0));
  for (let n = 2; n <= partitions; n++) {
    const [logIn, logOut] = [Math.log(1 / n), Math.log(1 - 1 / n)];
    const next = new Float64Array(shards + 1);
    for (let k = n === partitions ? shards : 0; k <= shards; k++) {
      let sum = 0;
      for (let j = Math.min(most, k); j >= 0; j--) {
        const log = logFactorial[k]! - logFactorial[j]! - logFactorial[k - j]! + j * logIn + (k - j) * logOut;
        sum += Math.exp(log) * fits[k - j]!;
      }
      next[k] = sum;
    }
    fits = next;
  }
  return 1 - fits[shards]!;
}

function milliseconds(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const CASES = [
  [200, 20],
  [694, 20],
  [1_000, 100],
  [5_000, 100],
] as const;

// Measures the time to compute the probability that a partition holds more than 1.5 times its fair share of the shards. Prints the best of five runs.
const rows = CASES.map(([shards, partitions]) => {
  const most = Math.floor((1.5 * shards) / partitions);
  const best = (work: () => unknown, times: number) =>
    Math.min(...Array.from({ length: times }, () => milliseconds(work)));
  const halves = best(() => moreThan(most, shards, partitions), 5);
  const textbook = best(() => onePartitionAfterTheOther(most, shards, partitions), 5);
  const difference = Math.abs(moreThan(most, shards, partitions) - onePartitionAfterTheOther(most, shards, partitions));
  return [
    `${shards.toLocaleString('en')} shards, ${partitions} partitions`,
    `${halves.toFixed(2)} ms`,
    `${textbook.toFixed(1)} ms`,
    `${(textbook / halves).toFixed(0)}x`,
    difference.toExponential(0),
  ];
});
printTable(['', 'by halves', 'one by one (baseline)', 'ratio', 'difference'], rows);

console.log('\nshardsForOverload at 5 %, in milliseconds');
for (const partitions of [10, 100, 1_000]) {
  let shards = 0;
  const time = milliseconds(() => {
    shards = shardsForOverload({ partitions, probability: 0.05 });
  });
  console.log(`  ${partitions} partitions: ${shards} shards, ${time.toFixed(1)} ms`);
}
const likely = milliseconds(() => shardsForOverload({ partitions: 100, probability: 0.9 }));
console.log(`  100 partitions at 90 %, where bounds decide nothing: ${likely.toFixed(1)} ms`);

console.log('\nplacing 1,000,000 keys on 64 shards, in milliseconds');
const ranges = uniformRanges(64);
const byHash = milliseconds(() => {
  for (let n = 0; n < 1_000_000; n++) shardIndexOf(hashPartitionKey(`account-${n}`), ranges);
});
const allocated = milliseconds(() => {
  const allocator = new BalancedKeyAllocator({ ranges });
  for (let n = 0; n < 1_000_000; n++) shardIndexOf(allocator.allocate(), ranges);
});
console.log(`  by partition key ${byHash.toFixed(0)} ms (baseline), by the allocator ${allocated.toFixed(0)} ms`);
console.log(`  ratio ${(allocated / byHash).toFixed(1)}x`);
