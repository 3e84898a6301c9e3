import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/**
 * Does the steps of a page of docs/start, block by block. If a paragraph ends with the name of a file, writes the next block into
 * this file. Runs each shell block, and compares its output with the next text block. `tarball` replaces the package
 * on npm until its publication. `environment` and `goReplacements` contain the location of the package for the
 * language.
 */
export function followPage(page, folder, { tarball, environment = {}, goReplacements }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const shims = `${folder}.shims`;
  writeShim(join(shims, 'npm'), npmWith(tarball));
  if (goReplacements !== undefined) writeShim(join(shims, 'go'), goWith(goReplacements));
  const env = { ...process.env, ...environment, PATH: [shims, process.env.PATH].join(delimiter) };
  let printed = '';
  for (const { language, file, code } of blocksOf(page)) {
    if (file !== undefined) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), code);
    } else if (language === 'sh') {
      printed = runShell(page, code, { cwd: folder, env });
    } else if (language === 'text' && printed !== code) {
      throw new Error(`${page} shows\n${code}and its command printed\n${printed}`);
    }
  }
  // The folder of a failed page is not removed, so that its files can be examined.
  for (const made of [folder, shims]) rmSync(made, { recursive: true, force: true });
}

/** The blocks of a page, each with the file that the paragraph before it names: "In `app.py`:" or "`pom.xml` names ...". */
function blocksOf(page) {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(/((?:.+\n)*)\n```(\w+)\n([\s\S]*?)```\n/g)].map(([, paragraph, language, code]) => {
    const named = /(?:In|^)\s`([\w./-]+\.\w+)`(?=:\n$| names)/.exec(` ${paragraph}`)?.[1];
    return { language, code, file: language === 'sh' || language === 'text' ? undefined : named };
  });
}

function runShell(page, code, options) {
  const { status, stdout, error } = spawnSync('bash', ['-euo', 'pipefail', '-c', code], {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  // Maven prints escape sequences for colours, even without other output.
  if (status === 0) return stripVTControlCharacters(stdout);
  throw new Error(`${page}: failed: ${code}${stdout}${error?.message ?? ''}`);
}

function writeShim(file, code) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/usr/bin/env bash\n${code}`);
  chmodSync(file, 0o755);
}

/**
 * The environment with an `npm` command that installs the package from the tarball, because the package is not
 * published yet.
 */
function npmWith(tarball) {
  return `arguments=()
for argument; do [ "$argument" = cdk-even-shards ] && argument='${tarball}'; arguments+=("$argument"); done
exec '${process.execPath}' '${process.env.npm_execpath}' "\${arguments[@]}" --no-audit --no-fund
`;
}

/** The environment with a `go` command that replaces modules that are on no proxy. */
function goWith(replacements) {
  const go = execFileSync('which', ['go'], { encoding: 'utf8' }).trim();
  const edits = replacements.map((replacement) => `'-replace=${replacement}'`).join(' ');
  return `'${go}' "$@" || exit
if [ "$1 $2" = 'mod init' ]; then exec '${go}' mod edit ${edits}; fi
`;
}
