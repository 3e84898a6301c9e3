// Opens a page in a headless browser, in light and dark mode, in a wide and in a narrow window. Prints the observations
// as JSON.
import { launchBrowser } from '../../../scripts/headless-browser.mjs';
import { defineContrast } from './define-contrast.mjs';

const [url] = process.argv.slice(2);
const browser = await launchBrowser();
const page = await browser.newPage();
await page.evaluateOnNewDocument(defineContrast);
const requests = [];
const errors = [];
page.on('request', (request) => requests.push(request.url()));
page.on('console', (message) => errors.push(message.text()));
page.on('pageerror', (error) => errors.push(String(error)));

const views = [];
for (const scheme of ['light', 'dark']) {
  for (const width of [1280, 390]) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.setViewport({ width, height: 900 });
    await page.goto(url);
    views.push({ scheme, width, ...(await page.evaluate(look)) });
  }
}
await browser.close();
console.log(JSON.stringify({ views, requests, errors }));

/** This function runs in the page. */
function look() {
  const texts = [...document.querySelectorAll('h1, li, h2, figcaption, td, th, footer, svg text')].map((element) => {
    const style = getComputedStyle(element);
    const svg = element.closest('svg');
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const [box, around] = [element.getBoundingClientRect(), svg?.getBoundingClientRect()];
    return {
      text: element.textContent,
      contrast: globalThis.contrastOf(element),
      pixels: Number.parseFloat(style.fontSize) * scale,
      inside:
        !around || (box.left >= around.left - 1 && box.right <= around.right + 1 && box.bottom <= around.bottom + 1),
    };
  });
  const overlaps = [...document.querySelectorAll('svg')].flatMap((svg) => {
    const boxes = [...svg.querySelectorAll('text')].map((element) => ({
      text: element.textContent,
      box: element.getBoundingClientRect(),
    }));
    return boxes.flatMap(({ text, box }, index) =>
      boxes
        .slice(index + 1)
        .filter(({ box: other }) => {
          const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
          const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
          return across > 1 && down > 4;
        })
        .map((other) => `${text} | ${other.text}`),
    );
  });
  return {
    title: document.title,
    plots: document.querySelectorAll('figure svg').length,
    marks: document.querySelectorAll('figure svg :is(rect, circle, path)').length,
    sideways: document.documentElement.scrollWidth - window.innerWidth,
    background: getComputedStyle(document.body).backgroundColor,
    leastContrast: texts.reduce((least, text) => (text.contrast < least.contrast ? text : least)),
    smallest: texts.reduce((least, text) => (text.pixels < least.pixels ? text : least)),
    outside: texts.filter(({ inside }) => !inside).map(({ text }) => text),
    overlaps,
  };
}
