// A textlint rule that reports each sentence with more than `maxWords` words, and each sentence that matches a banned pattern.
// `rules.json` has the number and the patterns.
import { sentencesOf } from './sentences.mjs';

/** A list of pieces of code, which counts as one word. */
const CODE_LIST = /X(, (or |and )?X)+/g;

export function hardSentences({ Syntax, RuleError, report }, { maxWords, banned }) {
  const rules = banned.map(({ pattern, instead }) => ({ pattern: new RegExp(pattern, 'i'), instead }));

  function check(node) {
    for (const { text, prose, start } of sentencesOf(node)) {
      for (const fault of faultsOf(prose)) report(node, new RuleError(`${fault}\n      ${text}`, { index: start }));
    }
  }

  function faultsOf(sentence) {
    const words = sentence.replace(CODE_LIST, 'X').split(' ').length;
    const found = rules.flatMap(({ pattern, instead }) => {
      const [match] = pattern.exec(sentence) ?? [];
      return match === undefined ? [] : [`"${match}": ${instead}`];
    });
    return words > maxWords ? [...found, `${words} words: write at most ${maxWords}`] : found;
  }

  return { [Syntax.Paragraph]: check, [Syntax.TableCell]: check, [Syntax.Header]: check };
}
