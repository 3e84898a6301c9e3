import { AnswerCache } from '../../../../../lib/core/sharded-index/client/answer-cache';

/** A cache that keeps nothing: what is not asked again comes from the question that is being asked. */
const FORGETFUL = { get: () => undefined, set: () => undefined };

describe('AnswerCache', () => {
  test('asks a question once while it is being asked, and again when it was answered', async () => {
    const answers = new AnswerCache<number>(FORGETFUL, String, Number);
    let asked = 0;
    const ask = async () => ++asked;
    expect(await Promise.all([answers.ask('q', ask), answers.ask('q', ask)])).toEqual([1, 1]);
    expect(await answers.ask('q', ask)).toBe(2);
  });

  test('keeps what the answer is written as, with the bytes that it takes, but no answer that must not be kept', async () => {
    const kept: unknown[] = [];
    const set = (...entry: unknown[]) => kept.push(entry);
    const answers = new AnswerCache<number>(
      { get: () => undefined, set },
      (n) => (n < 0 ? undefined : `n${n}`),
      Number,
    );
    expect(await answers.ask('one', async () => 12)).toBe(12);
    expect(await answers.ask('two', async () => -1)).toBe(-1);
    expect(kept).toEqual([['one', 'n12', { size: 2 * ('one'.length + 'n12'.length) }]]);
  });

  test('asks again after a failure', async () => {
    const answers = new AnswerCache<number>(FORGETFUL, String, Number);
    await expect(answers.ask('q', () => Promise.reject(new Error('throttled')))).rejects.toThrow('throttled');
    expect(await answers.ask('q', async () => 7)).toBe(7);
  });

  test('who asks anew does not end the question of who asks at the same time', async () => {
    const answers = new AnswerCache<number>(FORGETFUL, String, Number);
    const first = answers.ask('q', async () => 1);
    let answerSecond = (_: number): void => {};
    const second = answers.askAnew('q', () => new Promise((resolve) => (answerSecond = resolve)));
    await first;
    const third = answers.ask('q', async () => 3);
    answerSecond(2);
    expect(await Promise.all([second, third])).toEqual([2, 2]);
  });

  const keeping = (text: unknown) => {
    return new AnswerCache<number>({ get: () => text as string, set: () => undefined }, String, Number);
  };

  test.each([
    ['the text of an answer', '12', 12],
    ['nothing', undefined, undefined],
    ['null', null, undefined],
  ])('answers from a cache that has %s', (_, text, answer) => {
    expect(keeping(text).kept('q')).toBe(answer);
  });

  test.each([Promise.resolve('12'), 12])('refuses a cache that answers by no text: %p', (text) => {
    expect(() => keeping(text).kept('q')).toThrow('cache.get must be a function that returns a text or undefined');
  });
});
