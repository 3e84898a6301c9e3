import { Fuzz, type FuzzFailure } from './fuzz';
import type { FuzzTarget } from './fuzz-target';

/** A fuzzing run reports each target that fails or hangs, with the seed that repeats the case. */

async function played(targets: readonly FuzzTarget[], seeds: readonly number[]): Promise<FuzzFailure[]> {
  const failures: FuzzFailure[] = [];
  const fuzz = await Fuzz.start({ targets, mostSeconds: 1, onFailure: (failure) => failures.push(failure) });
  try {
    await fuzz.play(seeds);
  } finally {
    await fuzz.stop();
  }
  return failures;
}

/** A target whose cases note what they have drawn. */
function drawingTarget(name: string): { target: FuzzTarget; drawn: Record<number, number[]> } {
  const drawn: Record<number, number[]> = {};
  const target: FuzzTarget = {
    name,
    play: async (fuzzCase) => {
      const others = fuzzCase.diceFor('others');
      drawn[fuzzCase.seed] = [fuzzCase.dice.below(1e9), others.below(1e9)];
      await new Promise((resolve) => setTimeout(resolve, fuzzCase.dice.below(5)));
    },
  };
  return { target, drawn };
}

test('a case draws the same alone as among others, and something else than every other', async () => {
  const [a, b, alone] = ['a', 'b', 'b'].map(drawingTarget);
  await played([a!.target, b!.target], [1, 2, 3]);
  await played([alone!.target], [2]);
  expect(alone!.drawn[2]).toEqual(b!.drawn[2]);
  const all = [a!, b!].flatMap(({ drawn }) => Object.values(drawn).flat());
  expect(new Set(all).size).toBe(2 * 3 * 2);
});

test('a failure is told at once, with the command that plays its case alone', async () => {
  const told: string[] = [];
  const target: FuzzTarget = {
    name: 'some input',
    play: async ({ seed }) => {
      if (seed === 7) throw new Error('out of order');
      told.push(`played ${seed}`);
    },
  };
  const fuzz = await Fuzz.start({ targets: [target], onFailure: ({ message }) => told.push(message) });
  await fuzz.play([6, 7, 8]);
  await fuzz.stop();
  expect(told).toContain(
    "seed 7, some input: out of order\nonce more: npm run soak fuzz -- --only 'some input' --seed 7",
  );
  expect(fuzz.cases).toEqual({ 'some input': 3 });
});

test('a case that hangs fails with what it was doing, what it has started ends, and the others go on', async () => {
  const ended: string[] = [];
  const hangs: FuzzTarget = {
    name: 'hangs',
    play: async (fuzzCase) => {
      if (fuzzCase.seed === 0) for (const name of ['server', 'client']) fuzzCase.with(name, () => ended.push(name));
      fuzzCase.begins('the second request');
      await new Promise(() => {});
    },
  };
  const { target, drawn } = drawingTarget('goes on');
  const failures = await played([hangs, target], [0, 1]);
  expect(failures.map(({ message }) => message.split('\n')[0])).toEqual([
    'seed 0, hangs: has not ended within 1 s: the second request',
    'seed 1, hangs: has not ended within 1 s: the second request',
  ]);
  expect(ended).toEqual(['client', 'server']);
  expect(Object.keys(drawn)).toEqual(['0', '1']);
});
