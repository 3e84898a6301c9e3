import { splitAST } from 'sentence-splitter';

/** The sentences of a paragraph, each in one line and with its first character's place in the paragraph. A piece of code is one word. */
export function sentencesOf(paragraph) {
  const sentences = splitAST(paragraph).children.filter(({ type }) => type === 'Sentence');
  return sentences.map((sentence) => ({
    text: textOf(sentence)
      .replace(/\n\s*(\/\/+|\*+)?/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
    start: sentence.range[0] - paragraph.range[0],
  }));
}

function textOf(node) {
  if (node.type === 'Code') return node.value ?? node.raw;
  return node.children ? node.children.map(textOf).join('') : (node.value ?? node.raw);
}
