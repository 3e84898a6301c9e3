// The headless Chromium that npm brings along, packed.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';

/** Not the package's own options: those are for Lambda, where one process is all of a browser, and its first fault the end. */
const OPTIONS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--font-render-hinting=none'];
/** Wherever the command is called. */
const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url));
/** A browser that ends while it starts is started again: what it has been asked for by then is nothing. */
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
 * The package itself unpacks straight into the temporary folder, where a second process that starts meanwhile, or after one
 * that was stopped, takes half a program. So each process unpacks into a folder of its own, and the first to end names it.
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
