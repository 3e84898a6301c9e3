import { checkTrace } from '../core/producer/simulation/check-trace';
import { runSchedule } from '../core/producer/simulation/run-schedule';
import { scheduleOf } from '../core/producer/simulation/schedule';

// npm run soak producer [schedules] [first seed]
const [count = 1_000_000, firstSeed = 0] = process.argv.slice(2).map(Number);

const PROGRESS_EVERY = 50_000;

// A simulation creates many rejections, which need no stack trace. The seed of a failure repeats the failure.
Error.stackTraceLimit = 0;

async function main(): Promise<void> {
  const startedAt = performance.now();
  let records = 0;
  let copies = 0;
  for (let done = 0; done < count; done++) {
    const seed = firstSeed + done;
    const schedule = scheduleOf(seed);
    try {
      const trace = await runSchedule(schedule);
      checkTrace(schedule, trace);
      records += schedule.records.length;
      copies += trace.kinesis.entries.stored;
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
    if ((done + 1) % PROGRESS_EVERY === 0 || done + 1 === count) {
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      console.log(`${done + 1} schedules, ${records} records put, ${copies} Kinesis records stored, ${seconds} s`);
    }
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
