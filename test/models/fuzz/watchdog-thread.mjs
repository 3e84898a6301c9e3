/** Ends the process if its main thread does not run for `mostSeconds`, and prints the cases that were running. */
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const { beats, mostSeconds } = workerData;
const running = new Set();
let last = 0;
let silentSeconds = 0;

parentPort.on('message', ({ begun, ended }) => {
  if (begun) running.add(begun);
  else running.delete(ended);
});
setInterval(() => {
  const now = Atomics.load(beats, 0);
  silentSeconds = now === last ? silentSeconds + 1 : 0;
  last = now;
  if (silentSeconds < mostSeconds) return;
  writeSync(2, `nothing has moved for ${mostSeconds} s; one of these does not end:\n${[...running].join('\n')}\n`);
  process.kill(process.pid, 'SIGKILL');
}, 1_000);
