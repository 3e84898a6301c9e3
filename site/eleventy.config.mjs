import { rmSync } from 'node:fs';
import { join } from 'node:path';
import syntaxHighlight from '@11ty/eleventy-plugin-syntaxhighlight';
import anchors from 'markdown-it-anchor';
import { linkOn, ROOT, relativeTo, sections } from './pages.mjs';

const OUTPUT = join(ROOT, 'dist/site');

/** The site shows the documents of the repository as they are: nothing is written twice. */
// biome-ignore lint/style/noDefaultExport: Eleventy asks for one
export default function configure(eleventy) {
  eleventy.on('eleventy.before', () => rmSync(OUTPUT, { recursive: true, force: true }));
  eleventy.addPlugin(syntaxHighlight);
  eleventy.amendLibrary('md', (markdown) => {
    markdown.set({ html: true, linkify: false });
    markdown.use(anchors, { slugify: anchorOf, uniqueSlugStartIndex: 1, permalink: anchors.permalink.headerLink() });
    markdown.core.ruler.push('links', rewriteLinks);
  });
  eleventy.addFilter('from', (address, document) => relativeTo(document, address));
  eleventy.addGlobalData('sections', sections);
  for (const { document, address, text, title } of sections.flatMap(({ pages }) => pages)) {
    eleventy.addTemplate(document, text, { layout: 'page.liquid', permalink: address, title, document });
  }
  eleventy.addPassthroughCopy({ 'style.css': 'style.css' });
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

/** The name that GitHub gives the anchor of a heading, which the documents link to. */
function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
