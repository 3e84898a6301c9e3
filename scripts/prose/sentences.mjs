import { splitAST } from 'sentence-splitter';

/**
 * The sentences of a paragraph, each in one line: as text, and as prose, in which a piece of code is the word X. Each has the
 * position of its first character in the paragraph.
 */
export function sentencesOf(paragraph) {
  const sentences = splitAST(paragraph).children.filter(({ type }) => type === 'Sentence');
  return sentences.map((sentence) => ({
    text: lineOf(sentence, ({ value, raw }) => value ?? raw),
    prose: lineOf(sentence, () => 'X'),
    start: sentence.range[0] - paragraph.range[0],
  }));
}

function lineOf(sentence, codeOf) {
  const textOf = (node) => {
    if (node.type === 'Code') return codeOf(node);
    return node.children ? node.children.map(textOf).join('') : (node.value ?? node.raw);
  };
  return textOf(sentence)
    .replace(/\n\s*(\/\/+|\*+)?/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
