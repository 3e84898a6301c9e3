// A textlint plugin that finds the prose of a source file: comments, names of tests, and error messages. The name of a
// test becomes a header, and all other prose becomes paragraphs.
import ts from 'typescript';

const TEST_FUNCTIONS = new Set(['describe', 'it', 'test']);
/** The docstring tags whose text is not prose. */
const CODE_TAGS = /^@(example|see|jsii|packageDocumentation)\b/;
/** The beginning of a paragraph that is not prose: a tag with the name of its parameter, or the mark of a list item. */
const BEGINNING = /^(@param [\w.]+ |@\w+ ?|[-*] |\d+\. )?/;
/** The comment mark at the beginning of a line, with up to four spaces. More spaces are the indentation of code. */
const MARK = /^\s*(?:(?:\/\/+|\/?\*+(?!\/))(?: {0,4}(?! )| ))?/;
/** The beginning of a line that is not prose: a code fence, indented code, or an instruction to a tool. */
const NO_PROSE = /^(```| {4}|@ts-|biome-ignore)/;

/** The class that textlint loads. */
export class Processor {
  static availableExtensions() {
    return ['.ts', '.mjs', '.js'];
  }

  availableExtensions() {
    return Processor.availableExtensions();
  }

  processor() {
    return {
      preProcess: (text, path) => documentOf(text, path ?? 'source.ts'),
      postProcess: (messages, path) => ({ messages, filePath: path ?? '<source>' }),
    };
  }
}

function documentOf(text, path) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const children = [...commentsOf(source), ...textsOf(source)]
    .sort((left, right) => left.start - right.start)
    .flatMap((passage) => paragraphOf(passage, source));
  return nodeOf('Document', { start: 0, end: text.length }, source, { children });
}

/** The paragraphs of all comments. */
function commentsOf(source) {
  const { text } = source;
  const ranges = new Map();
  const visit = (node) => {
    for (const range of ts.getLeadingCommentRanges(text, node.pos) ?? []) ranges.set(range.pos, range);
    for (const range of ts.getTrailingCommentRanges(text, node.end) ?? []) ranges.set(range.pos, range);
    for (const child of node.getChildren(source)) if (!ts.isJSDoc(child)) visit(child);
  };
  visit(source);
  const sorted = [...ranges.values()].sort((left, right) => left.pos - right.pos);
  return joined(sorted, text).flatMap((lines) => passagesOf(lines));
}

/** The lines of each comment. Joins successive one-line comments into one comment. */
function joined(ranges, text) {
  const comments = [];
  let last;
  for (const range of ranges) {
    const lines = linesOf(text, range.pos, range.end);
    const continues = last && isLine(last) && isLine(range) && /^\s*$/.test(text.slice(last.end, range.pos));
    if (continues) comments.at(-1).push(...lines);
    else comments.push(lines);
    last = range;
  }
  return comments;
}

const isLine = ({ kind }) => kind === ts.SyntaxKind.SingleLineCommentTrivia;

/** The lines of a comment without their marks. */
function linesOf(text, pos, end) {
  const lines = [];
  let start = pos;
  while (start < end) {
    const newline = text.indexOf('\n', start);
    const stop = newline < 0 || newline > end ? end : newline;
    const [mark] = MARK.exec(text.slice(start, stop));
    const line = text.slice(start + mark.length, stop).replace(/\s*\*\/$/, '');
    lines.push({ start: start + mark.length, end: start + mark.length + line.length, line });
    start = stop + 1;
  }
  return lines;
}

/** Joins the lines of a comment into paragraphs. A paragraph ends at a blank line, a list item, a tag, or code. */
function passagesOf(lines) {
  const passages = [];
  let isCode = false;
  let isOpen = false;
  for (const { start, end, line } of lines) {
    const begin = BEGINNING.exec(line)[0];
    if (line.startsWith('@')) isCode = CODE_TAGS.test(line);
    if (line.startsWith('```')) isCode = !isCode;
    const isProse = !isCode && line.length > begin.length && !NO_PROSE.test(line);
    if (isProse && isOpen && begin === '') passages.at(-1).end = end;
    else if (isProse) passages.push({ start: start + begin.length, end });
    isOpen = isProse;
  }
  return passages;
}

/** The names of tests and the messages of errors. */
function textsOf(source) {
  const passages = [];
  const visit = (node) => {
    const [argument] = node.arguments ?? [];
    if (argument && isText(argument) && (isTest(node) || isError(node))) {
      const [start, end] = [argument.getStart(source) + 1, argument.end - 1];
      passages.push({ start, end, type: isError(node) ? 'Paragraph' : 'Header' });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return passages.filter(({ start, end }) => end > start);
}

const isText = (node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
const isError = (node) => ts.isNewExpression(node) && /Error$/.test(node.expression.getText());

function isTest(node) {
  let callee = ts.isCallExpression(node) && node.expression;
  while (callee && !ts.isIdentifier(callee)) callee = callee.expression ?? callee.tag;
  return callee && TEST_FUNCTIONS.has(callee.text);
}

/** A paragraph node. Each piece of code is a separate child node. */
function paragraphOf({ start, end, type = 'Paragraph' }, source) {
  const raw = source.text.slice(start, end);
  const children = [...raw.matchAll(/(`[^`]*`|\$\{[^}]*\}|\{@link [^}]*\})|(?:(?!`|\$\{|\{@link ).)+|./gs)].map(
    (match) =>
      nodeOf(
        match[1] ? 'Code' : 'Str',
        { start: start + match.index, end: start + match.index + match[0].length },
        source,
        {
          value: match[0].replace(/\n[ \t]*(\/\/+|\*+)?/g, (mark) => mark.replace(/[^\n]/g, ' ')),
        },
      ),
  );
  return nodeOf(type, { start, end }, source, { children, ...(type === 'Header' && { depth: 1 }) });
}

function nodeOf(type, { start, end }, source, rest) {
  const at = (position) => {
    const { line, character } = source.getLineAndCharacterOfPosition(position);
    return { line: line + 1, column: character };
  };
  return {
    type,
    raw: source.text.slice(start, end),
    range: [start, end],
    loc: { start: at(start), end: at(end) },
    ...rest,
  };
}
