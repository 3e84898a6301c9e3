// Starts the headless Chromium that an npm package contains.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';

/**
 * Replaces the options of the package, which are for Lambda. With these options, the browser would be a single process
 * that ends at its first error.
 */
const OPTIONS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--font-render-hinting=none'];
/** The node_modules of this repository, whatever the working directory is. */
const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url));
/**
 * The maximum number of starts. If the browser ends during a start, another start is safe, because the browser has not
 * received a command yet.
 */
const STARTS = 3;

export async function launchBrowser() {
  const executablePath = await unpack();
  for (let start = 1; ; start++) {
    try {
      return await puppeteer.launch({ headless: 'shell', args: OPTIONS, executablePath });
    } catch (error) {
      if (start === STARTS) throw error;
      console.error(`the browser did not start (${error.message}), start ${start} of ${STARTS}`);
    }
  }
}

/**
 * Unpacks the browser. The package would unpack into a shared temporary folder, where a second process can find an
 * incomplete program. So each process unpacks into its own folder. The first process that has finished renames its
 * folder to the shared name.
 */
async function unpack() {
  const { version } = JSON.parse(readFileSync(join(MODULES, '@sparticuz/chromium/package.json'), 'utf8'));
  const folder = join(MODULES, '.cache', `chromium@${version}`);
  const program = join(folder, 'chromium');
  if (existsSync(program)) return program;
  mkdirSync(join(MODULES, '.cache'), { recursive: true });
  const part = mkdtempSync(`${folder}.part-`);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = part;
  try {
    await chromium.executablePath();
    if (tmpdir() !== part) throw new Error(`the browser was unpacked into ${tmpdir()}, not ${part}`);
    if (!existsSync(program)) renameSync(part, folder);
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(part, { recursive: true, force: true });
  }
  return program;
}
