import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import syntaxHighlight from '@11ty/eleventy-plugin-syntaxhighlight';
import anchors from 'markdown-it-anchor';
import { linkOn, ROOT, relativeTo, sections } from './pages.mjs';

const OUTPUT = join(ROOT, 'dist/site');

/** Headings that every page of the reference has. The search leaves out these headings. */
const OF_EVERY_PAGE =
  /^(Parameters|Returns|Throws|Default|Properties|Methods|Accessors|Constructors?|Extends|Implements|Implementation of|Inherited from|Overrides|Get Signature|Call Signature|Example|See|Classes|Interfaces|Functions|Variables|Type Aliases|Enumerations|Enumeration Members|References|Type Declaration|Type Parameters|Extended by|Param|Since)$/;

/** The entries that the search can find: headings, and anchors such as the anchor of an error code. */
const index = [];

/** The site shows the documents of the repository without changes. */
// biome-ignore lint/style/noDefaultExport: Eleventy requires a default export
export default function configure(eleventy) {
  eleventy.on('eleventy.before', () => rmSync(OUTPUT, { recursive: true, force: true }));
  eleventy.on('eleventy.after', () =>
    writeFileSync(join(OUTPUT, 'search-index.js'), `window.searchIndex = ${JSON.stringify(index)};\n`),
  );
  eleventy.addPlugin(syntaxHighlight);
  eleventy.amendLibrary('md', (markdown) => {
    markdown.set({ html: true, linkify: false });
    markdown.use(anchors, {
      slugify: anchorOf,
      uniqueSlugStartIndex: 1,
      permalink: anchors.permalink.headerLink(),
    });
    markdown.core.ruler.push('index', indexPage);
    markdown.core.ruler.push('links', rewriteLinks);
  });
  eleventy.addFilter('from', (address, document) => relativeTo(document, address));
  eleventy.addGlobalData('sections', sections);
  for (const { document, address, text, title } of sections.flatMap(({ pages }) => pages)) {
    eleventy.addTemplate(document, text, { layout: 'page.liquid', permalink: address, title, document });
  }
  eleventy.addPassthroughCopy({ 'style.css': 'style.css', 'search.js': 'search.js' });
  eleventy.addPassthroughCopy({ '../docs': 'docs' }, { filter: /^[^.]*$|\.(svg|png|json)$/ });
  return {
    dir: { input: '.', includes: 'layouts', output: OUTPUT },
    markdownTemplateEngine: false,
    templateFormats: ['md'],
  };
}

function rewriteLinks({ tokens, env }) {
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    for (const attribute of ['href', 'src']) {
      const link = token.attrGet(attribute);
      if (link !== null) token.attrSet(attribute, linkOn(env.document, decodeURI(link)));
    }
  }
}

/** Records the headings and the explicit anchors of a page. */
function indexPage({ tokens, env }) {
  const { document, title: page, permalink } = env;
  if (document === undefined) return;
  const note = (title, anchor) =>
    !OF_EVERY_PAGE.test(title) &&
    index.push({ title, page, address: `${permalink}${anchor}`, text: `${title} ${page}`.toLowerCase() });
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') {
      const title = tokens[at + 1].children
        .map(({ content }) => content)
        .join('')
        .trim();
      note(title, token.tag === 'h1' ? '' : `#${token.attrGet('id')}`);
    }
    for (const { content } of token.children ?? []) {
      const [, anchor] = /^<a id="([^"]+)">/.exec(content) ?? [];
      if (anchor !== undefined) note(anchor.toUpperCase(), `#${anchor}`);
    }
  });
}

/** The anchor that GitHub creates from a heading. Links in the documents use this anchor. */
function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
