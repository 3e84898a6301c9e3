// A textlint rule: no sentence is longer than `maxWords`, and none matches a banned pattern. `.textlintrc.json` has the patterns.
import { splitAST } from 'sentence-splitter';

export function plainEnglish({ Syntax, RuleError, report }, { maxWords, banned }) {
  const rules = banned.map(({ pattern, instead }) => ({ pattern: new RegExp(pattern, 'i'), instead }));

  function check(node) {
    for (const sentence of splitAST(node).children.filter(({ type }) => type === 'Sentence')) {
      const text = plainTextOf(sentence);
      const words = text.split(' ').length;
      const faults = rules
        .filter(({ pattern }) => pattern.test(text))
        .map(({ pattern, instead }) => `"${pattern.exec(text)[0]}": ${instead}`);
      if (words > maxWords) faults.push(`${words} words, at most ${maxWords}`);
      for (const fault of faults)
        report(node, new RuleError(`${fault}\n      ${text}`, { index: sentence.range[0] - node.range[0] }));
    }
  }

  return { [Syntax.Paragraph]: check, [Syntax.TableCell]: check, [Syntax.Header]: check };
}

/** The words of a sentence in one line. Code is one word. */
function plainTextOf(node) {
  const parts = node.children.map((child) => {
    if (child.type === 'Code') return 'X';
    return child.children ? plainTextOf(child) : (child.value ?? child.raw);
  });
  return parts
    .join('')
    .replace(/\n\s*(\/\/+|\*+)?/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
