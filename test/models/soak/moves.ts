import { checkHistory } from '../core/consumer/moves/check-history';

// npm run soak moves [histories] [first seed]
const [count = 10_000, firstSeed = 0] = process.argv.slice(2).map(Number);

const PROGRESS_EVERY = 1_000;

async function main(): Promise<void> {
  const startedAt = performance.now();
  const sum = { records: 0, crashes: 0, letGo: 0, parked: 0, rejectedAndStored: 0 };
  for (let done = 0; done < count; done++) {
    const seed = firstSeed + done;
    try {
      const facts = await checkHistory(seed);
      for (const [fact, count] of Object.entries(facts)) sum[fact as keyof typeof facts] += count;
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
    if ((done + 1) % PROGRESS_EVERY === 0 || done + 1 === count) {
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      const { records, rejectedAndStored, crashes, letGo, parked } = sum;
      const ofRecords = `${records} records, ${rejectedAndStored} of them rejected and stored, ${parked} parked`;
      console.log(`${done + 1} histories, ${ofRecords}, ${crashes} crashes, ${letGo} moves let go, ${seconds} s`);
    }
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
