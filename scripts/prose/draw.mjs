import { createHash } from 'node:crypto';
import { sentencesOf } from './sentences.mjs';

const WORDS = 4;

/**
 * A textlint rule that reports each sentence, so that sentences can be drawn. In source files, a header is the name of
 * a test.
 */
export function everySentence({ Syntax, RuleError, report, getFilePath }) {
  function list(node, kind) {
    for (const { text, start } of sentencesOf(node)) {
      if (text.split(' ').length >= WORDS) report(node, new RuleError(`${kind}: ${text}`, { index: start }));
    }
  }
  const sentences = (node) => list(node, 'sentence');
  const headers = (node) => list(node, getFilePath().endsWith('.md') ? 'sentence' : 'test name');
  return {
    [Syntax.Paragraph]: sentences,
    [Syntax.TableCell]: sentences,
    [Syntax.Header]: headers,
  };
}

/** Draws `count` items from a list, with the same probability for each item. The same seed draws the same items. */
export function drawn(items, count, seed) {
  const rank = (index) => createHash('sha256').update(`${seed} ${index}`).digest('hex');
  const ranked = items.map((item, index) => ({ item, at: rank(index) }));
  return ranked
    .sort((left, right) => (left.at < right.at ? -1 : 1))
    .slice(0, count)
    .map(({ item }) => item);
}
