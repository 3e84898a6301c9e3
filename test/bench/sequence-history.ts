import { randomUUID } from 'node:crypto';
import { SequenceHistory } from '../../lib/core';

/** What a history needs for each key: npm run bench sequence-history [keys] */
const keys = Number(process.argv[2] ?? 150_000);
const producerId = randomUUID();

function heapBytes(): number {
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
}

function main(): void {
  const start = heapBytes();
  const numbers = new Map(Array.from({ length: keys }, (_, key) => [`account-${key}`, BigInt(key)]));
  const baseline = (heapBytes() - start) / keys;
  const before = heapBytes();
  const history = new SequenceHistory({ maxKeys: keys });
  for (const [partitionKey, sequenceNumber] of numbers) {
    history.add({ partitionKey, explicitHashKey: sequenceNumber << 100n, sequence: { producerId, sequenceNumber } });
  }
  const memory = (heapBytes() - before) / keys;
  const saved = JSON.stringify(history).length / keys;
  // Said of the map itself, which would be collected before the history is measured if nobody needed it any more.
  console.log(`${numbers.size} keys of one producer each`);
  console.log(`map of keys to numbers: ${Math.round(baseline)} bytes a key`);
  console.log(`history: ${Math.round(memory)} bytes a key, ${(memory / baseline).toFixed(1)} times the map`);
  console.log(`history as JSON: ${Math.round(saved)} bytes a key`);
}

main();
