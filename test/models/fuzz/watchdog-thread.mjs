/** Ends the process, and says which cases were under way, when its main thread does not run for so many seconds. */
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const { beats, mostSeconds } = workerData;
const underWay = new Set();
let last = 0;
let silentSeconds = 0;

parentPort.on('message', ({ begun, ended }) => {
  if (begun) underWay.add(begun);
  else underWay.delete(ended);
});
setInterval(() => {
  const now = Atomics.load(beats, 0);
  silentSeconds = now === last ? silentSeconds + 1 : 0;
  last = now;
  if (silentSeconds < mostSeconds) return;
  writeSync(2, `nothing has moved for ${mostSeconds} s; one of these does not end:\n${[...underWay].join('\n')}\n`);
  process.kill(process.pid, 'SIGKILL');
}, 1_000);
