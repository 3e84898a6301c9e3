// Opens the page of a running `even-shards local --serve` in a headless browser. Returns functions for the actions of a
// user.
import { launchBrowser } from '../../../scripts/headless-browser.mjs';
import { defineContrast } from './define-contrast.mjs';

/** Opens the page and waits until it shows the current state. */
export async function openConsole(url) {
  const browser = await launchBrowser();
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(defineContrast);
  const requests = new Set();
  const errors = [];
  page.on('request', (request) => requests.add(new URL(request.url()).origin));
  page.on('console', (message) => errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));

  const until = (condition, ...values) =>
    page.waitForFunction(condition, { timeout: 90_000 }, ...values).catch((error) => {
      throw new Error(`${condition}: ${error.message}; errors of the page: ${errors.join('; ') || 'none'}`);
    });
  const isLive = () =>
    until(
      () => document.querySelector('#connection').textContent === 'live' && document.querySelector('.bar') !== null,
    );
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(url);
  await isLive();

  return {
    ...{ browser, page, requests, errors, until, isLive },
    textOf: (selector) => page.$eval(selector, (element) => element.textContent),
    rowsOf: (selector) =>
      page.$$eval(`${selector} tbody tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))),
    /** Selects the option whose text begins with the prefix. */
    choose: (selector, start) =>
      page.$eval(
        selector,
        (select, text) => {
          select.value = [...select.options].find((option) => option.text.startsWith(text)).value;
          select.dispatchEvent(new Event('change'));
        },
        start,
      ),
    fill: (selector, text) =>
      page.$eval(
        selector,
        (input, value) => {
          input.value = value;
        },
        text,
      ),
  };
}

/** Returns the layout problems of the page. This function runs in the page. */
export function look() {
  const texts = [
    ...document.querySelectorAll(
      'h1, h2, h3, p, a, th, td, b, legend, figcaption, label, button, input, select, textarea, pre',
    ),
  ];
  const contrasts = texts.map((element) => ({
    text: element.textContent || element.name,
    contrast: globalThis.contrastOf(element),
  }));
  const unnamed = [...document.querySelectorAll('input, select, textarea, svg[role=img], [role=region]')].filter(
    (element) => !element.getAttribute('aria-label') && !element.closest('label'),
  );
  return {
    sideways: document.documentElement.scrollWidth - window.innerWidth,
    leastContrast: contrasts.reduce((least, each) => (each.contrast < least.contrast ? each : least)),
    unnamed: unnamed.map(({ outerHTML }) => outerHTML.slice(0, 80)),
    shards: document.querySelectorAll('.bar .shard').length,
    height: document.documentElement.scrollHeight,
    ...overlaps(),
    headings: [...document.querySelectorAll('h2')].map(({ textContent }) => textContent),
  };

  /** Texts that overlap, and truncated texts without scrolling or an ellipsis. */
  function overlaps() {
    const places = [];
    const cut = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement: element, textContent } = walker.currentNode;
      if (textContent.trim() === '' || element.closest('option, script, title, textarea') !== null) continue;
      if (!element.checkVisibility()) continue;
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      for (const rect of range.getClientRects()) {
        const box = visible(rect, element);
        if (box.right - box.left > 1 && box.bottom - box.top > 1) places.push({ element, text: textContent, ...box });
      }
      const style = getComputedStyle(element);
      const isCut = element.scrollWidth > element.clientWidth + 1 && style.overflowX === 'hidden';
      if (isCut && style.textOverflow !== 'ellipsis') cut.push(textContent.slice(0, 40));
    }
    for (const field of document.querySelectorAll('input, select, textarea, button, svg')) {
      if (!field.checkVisibility()) continue;
      const { left, right, top, bottom } = field.getBoundingClientRect();
      places.push({ element: field, text: field.name ?? field.tagName, left, right, top, bottom });
    }
    const pairs = [];
    for (const [at, a] of places.entries()) {
      for (const b of places.slice(at + 1)) {
        if (a.element === b.element || a.element.contains(b.element) || b.element.contains(a.element)) continue;
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // The boxes of adjacent lines overlap slightly without a problem, because a box is higher than its letters.
        if (across > 1 && down > 3) pairs.push(`${a.text.slice(0, 40)} on ${b.text.slice(0, 40)}`);
      }
    }
    return { pairs, cut };
  }

  /** The part of a box that its containers do not hide. */
  function visible({ left, right, top, bottom }, element) {
    const box = { left, right, top, bottom };
    for (let around = element; around !== null; around = around.parentElement) {
      if (getComputedStyle(around).overflowX === 'visible') continue;
      const outer = around.getBoundingClientRect();
      box.left = Math.max(box.left, outer.left);
      box.right = Math.min(box.right, outer.right);
      box.top = Math.max(box.top, outer.top);
      box.bottom = Math.min(box.bottom, outer.bottom);
    }
    return box;
  }
}
