// Does the first actions of a user on the local console of an app without data. Prints the observations as JSON.
import { look, openConsole } from './console-browser.mjs';

const [url, pictures] = process.argv.slice(2);
const { browser, page, requests, errors, until, textOf, choose, fill } = await openConsole(url);
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

await until(() => document.querySelector('#invoke [name=event]').value !== '{}');
const fresh = await looks('fresh');

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

await browser.close();
const done = { fresh, invocations, notJson, refused };
console.log(JSON.stringify({ ...done, requests: [...requests], errors }));
