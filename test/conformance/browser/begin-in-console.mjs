// Does the first actions of a user on the local console of an app without data. Prints the observations as JSON.
import { look, openConsole } from './console-browser.mjs';

const [url, pictures] = process.argv.slice(2);
const { browser, page, requests, errors, until, textOf, rowsOf, choose, fill } = await openConsole(url);
const contentOf = (selector) => page.$eval(selector, ({ value }) => value);
const takePicture = async (name) => {
  if (pictures !== undefined) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
};

/** The layout problems of the page in a wide and in a narrow window. */
async function looks(name) {
  const seen = [];
  for (const width of [1280, 400]) {
    await page.setViewport({ width, height: 900 });
    await new Promise((resolve) => setTimeout(resolve, 700));
    seen.push(await page.evaluate(look));
    await takePicture(`${name}-${width}`);
  }
  await page.setViewport({ width: 1280, height: 900 });
  return seen;
}

await until(() => document.querySelector('#query [name=value]').value !== '');
await page.click('#first-program summary');
const fresh = await looks('fresh');
const program = await textOf('#first-program pre');

const query = async () => {
  await page.$eval('#query-result', (place) => place.replaceChildren());
  await page.click('#query button[type=submit]');
  await until(() => document.querySelector('#query-result tbody') !== null);
  return { value: await contentOf('#query [name=value]'), title: await textOf('#query-result .caption') };
};
const firstQuery = await query();

const invocations = [];
const invoke = async () => {
  await page.$eval('#answer', (place) => place.replaceChildren());
  await page.click('#invoke button');
  await until(
    () => document.querySelector('#answer').textContent + document.querySelector('#invoke-problem').textContent,
  );
  const [answer, problem, trace] = [
    await textOf('#answer'),
    await textOf('#invoke-problem'),
    await textOf('#trace pre'),
  ];
  return { answer, problem, hasTrace: trace !== '' };
};
for (const name of ['App/Producer/Function', 'App/Query/Function']) {
  await choose('#invoke select', name);
  invocations.push(await invoke());
}
await fill('#invoke textarea', '{');
const notJson = await invoke();
await fill('#invoke textarea', '{"index":"byNothing"}');
const refused = await invoke();

await choose('#load select', 'items into App/Jobs');
await fill('#load [name=records]', '300');
await fill('#load [name=keys]', '3');
await page.click('#load button[type=submit]');
await until(() => document.querySelector('#loads td:nth-of-type(2)')?.textContent.match(/^[\d.]+$/));
const filled = (await rowsOf('#loads'))[0];
await until(() => document.querySelectorAll('#index-list .heat').length === 3);
const notes = await page.$$eval('#index-list article', (articles) =>
  articles.map((article) => [article.querySelector('h3').textContent, article.querySelectorAll('tbody tr').length]),
);
const queryOfFilled = await query();

await fill('#load [name=records]', '5000');
await fill('#load [name=rate]', '50');
await page.click('#load button[type=submit]');
await until(() => /^ *[1-9]\d* of 5,000 put/.test(document.querySelector('#load-progress').textContent));
const loading = await looks('loading');
await page.click('#stop-loads');
await until(() => document.querySelector('#loads td').textContent.endsWith('stopped'));
const stopped = (await rowsOf('#loads'))[0];
const stopIsHidden = await page.$eval('#stop-loads', ({ hidden }) => hidden);
await looks('loaded');

await browser.close();
const done = {
  fresh,
  program,
  firstQuery,
  invocations,
  notJson,
  refused,
  filled,
  notes,
  queryOfFilled,
  loading,
  stopped,
};
console.log(JSON.stringify({ ...done, stopIsHidden, requests: [...requests], errors }));
