import { HistoryPlayer, type Mutant } from '../core/outbox/histories/play-history';
import { PostgresServer } from '../postgres/postgres-server';

// npm run soak outbox [histories] [first seed] [what is broken on purpose]
const [count = 10_000, firstSeed = 0] = process.argv.slice(2, 4).map(Number);
const mutant = process.argv[4] as Mutant | undefined;

const PROGRESS_EVERY = 100;

async function main(): Promise<void> {
  const server = await PostgresServer.start();
  const player = await HistoryPlayer.start(await server.createDatabase('soak'), mutant);
  const startedAt = performance.now();
  const totals: Record<string, number> = {};
  try {
    for (let done = 0; done < count; done++) {
      const { counts } = await player.play(firstSeed + done);
      for (const [name, value] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + value;
      if ((done + 1) % PROGRESS_EVERY === 0 || done + 1 === count) {
        const seconds = Math.round((performance.now() - startedAt) / 1_000);
        const summed = Object.entries(totals).map(([name, value]) => `${value} ${name}`);
        console.log(`${done + 1} histories, ${summed.join(', ')}, ${seconds} s`);
      }
    }
  } finally {
    await player.end();
    await server.stop();
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
