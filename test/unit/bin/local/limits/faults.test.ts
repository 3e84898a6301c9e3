import { Faults, parseFaults, withFaults } from '../../../../../bin/local/limits/faults';
import { LOST } from '../../../../../bin/local/limits/service-proxy';
import { seededRandom } from '../../../../../lib/testing';

const CALL = { operation: 'PutRecord', input: {} };
const DONE = { status: 200, output: {} };

test('faults are read by service and kind', () => {
  expect(parseFaults('kinesis:lost-answer=1%, kinesis:throttle=0.5%,dynamodb:slow=100%')).toEqual({
    kinesis: { 'lost-answer': 0.01, throttle: 0.005 },
    dynamodb: { slow: 1 },
  });
});

test.each([
  '',
  'kinesis:explode=1%',
  's3:slow=1%',
  'kinesis:slow=101%',
  'kinesis:slow=1',
  'kinesis:slow=-1%',
  'kinesis:slow=1%,kinesis:slow=2%',
  'kinesis:slow=1%,',
])('%j is refused, with what is allowed', (text) => {
  expect(() => parseFaults(text)).toThrow(
    /faults must be each fault once, as service:fault=0\.\.100%, of the services dynamodb, kinesis and the faults error, lost-answer, slow, throttle/,
  );
});

test('the same seed injects the same, and counts it', async () => {
  const play = async (seed: number) => {
    const faults = new Faults({ error: 0.2, 'lost-answer': 0.2 }, seededRandom(seed));
    const gate = withFaults(async () => DONE, faults);
    const answers: Awaited<ReturnType<typeof gate>>[] = [];
    for (let n = 0; n < 200; n++) answers.push(await gate(CALL, async () => DONE));
    return { answers, injected: faults.injected };
  };
  const [first, again, other] = [await play(1), await play(1), await play(2)];
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
  const lost = first.answers.filter((answer) => answer === LOST).length;
  const failed = first.answers.filter((answer) => answer !== LOST && answer.status === 500).length;
  expect(first.injected).toEqual({ error: failed, 'lost-answer': lost });
  expect(Math.min(lost, failed)).toBeGreaterThan(10);
});

test('a call whose answer is lost is applied, one with an error is not', async () => {
  for (const [kind, applied] of [
    ['lost-answer', 1],
    ['error', 0],
  ] as const) {
    let calls = 0;
    const gate = withFaults(
      async () => {
        calls += 1;
        return DONE;
      },
      new Faults({ [kind]: 1 }, Math.random),
    );
    await gate(CALL, async () => DONE);
    expect(calls).toBe(applied);
  }
});
