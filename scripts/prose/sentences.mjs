import { splitAST } from 'sentence-splitter';

/**
 * The sentences of a paragraph. Each sentence has its text in one line, its prose (the text with X in place of code), and the
 * position of its first character in the paragraph.
 */
export function sentencesOf(paragraph) {
  const parts = splitAtBreaks(paragraph);
  const sentences = parts.flatMap((part) => splitAST(part).children.filter(({ type }) => type === 'Sentence'));
  return sentences.map((sentence) => ({
    text: lineOf(sentence, ({ value, raw }) => value ?? raw),
    prose: lineOf(sentence, () => 'X'),
    start: sentence.range[0] - paragraph.range[0],
  }));
}

/** Splits a paragraph or a table cell at each `<br>`. */
function splitAtBreaks(paragraph) {
  const parts = [[]];
  for (const child of paragraph.children) {
    if (child.type === 'Html' && child.raw === '<br>') parts.push([]);
    else parts.at(-1).push(child);
  }
  return parts.filter((children) => children.length > 0).map((children) => ({ ...paragraph, children }));
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
