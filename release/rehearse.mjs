/**
 * Publishes the packages of dist/languages to registries on this machine, with the programs of the release workflow:
 * npm run release:rehearse [npm] [pypi] [maven] [golang]. It publishes twice, because a repeated job must accept
 * packages that are already published. NuGet is left out, because its server needs .NET.
 *
 * The registries listen on the loopback interface. Their files are in a temporary folder, which is deleted at the end.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const PACKAGES = resolve('dist/languages');
const VERDACCIO = '5.33.0';
const PYPISERVER = '2.1.1';
const GO_REPOSITORY = 'github.com/cdk-even-shards/cdk-even-shards-go';

const asked = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'rehearse-'));
const servers = [];

const TARGETS = {
  npm: { directory: 'js', rehearse: onVerdaccio },
  pypi: { directory: 'python', rehearse: onPypiserver },
  maven: { directory: 'java', rehearse: onMavenRepository },
  golang: { directory: 'go', rehearse: onGitRepository },
};

// Installs the programs first, so that npm does not download them from its registry later.
expectSuccess('npm', ['ci', '--prefix', 'release', '--no-audit', '--no-fund']);
try {
  for (const [target, { directory, rehearse }] of Object.entries(TARGETS)) {
    if (asked.length > 0 && !asked.includes(target)) continue;
    if (existsSync(join(PACKAGES, directory))) await rehearse();
    else console.log(`${target}: skipped, for dist/languages/${directory} is not there; npm run languages packs it`);
  }
} finally {
  for (const server of servers) server.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** Runs the program of a target twice, as the workflow runs it. */
function publishTwice(target, environment, packages = join(PACKAGES, TARGETS[target].directory)) {
  for (const time of ['first', 'second']) {
    const args = ['exec', '--prefix', 'release', '--', `publib-${target}`, packages];
    const { status, stdout, stderr } = run('npm', args, environment);
    if (status !== 0)
      throw new Error(`${target}: the ${time} publication failed:\n${lastLines(stdout)}\n${lastLines(stderr)}`);
  }
}

async function onVerdaccio() {
  const port = await freePort();
  const home = join(folder, 'npm');
  mkdirSync(home);
  const config = join(home, 'config.yaml');
  const everybody = "{ access: '$all', publish: '$all' }";
  writeFileSync(
    config,
    `storage: ./storage\npackages: { '**': ${everybody} }\nmax_body_size: 100mb\nlog: { level: fatal }\n`,
  );
  const cache = resolve('node_modules/.cache', `verdaccio@${VERDACCIO}`);
  if (!existsSync(join(cache, 'node_modules'))) {
    mkdirSync(cache, { recursive: true });
    // Overrides a dependency, because Verdaccio depends on a tag of node-fetch that a mirror of npm may not have.
    const manifest = { private: true, dependencies: { verdaccio: VERDACCIO }, overrides: { 'node-fetch': '^2.7.0' } };
    writeFileSync(join(cache, 'package.json'), JSON.stringify(manifest));
    expectSuccess('npm', [
      'install',
      '--prefix',
      cache,
      '--no-package-lock',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
    ]);
  }
  await listen(port, process.execPath, [
    join(cache, 'node_modules/verdaccio/bin/verdaccio'),
    ...['--config', config, '--listen', `127.0.0.1:${port}`],
  ]);
  const registry = `127.0.0.1:${port}`;
  // publib writes the token into the home folder.
  const environment = { HOME: home, NPM_REGISTRY: registry, NPM_TOKEN: 'local', DISABLE_HTTPS: 'true' };
  publishTwice('npm', environment, withoutProvenance(home));
  const { stdout } = run('npm', ['view', name, 'version', '--registry', `http://${registry}`]);
  report('npm', stdout.trim() === version);
}

/**
 * A folder with a copy of the tarball without the `provenance` setting, for which npm needs the identity of a workflow.
 */
function withoutProvenance(home) {
  const unpacked = join(home, 'unpacked');
  const packed = join(home, 'packed');
  for (const made of [unpacked, packed]) mkdirSync(made);
  const [tarball] = readdirSync(join(PACKAGES, 'js')).filter((file) => file.endsWith('.tgz'));
  expectSuccess('tar', ['-xzf', join(PACKAGES, 'js', tarball), '-C', unpacked]);
  const manifest = join(unpacked, 'package/package.json');
  const { publishConfig: _, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'));
  writeFileSync(manifest, JSON.stringify(rest));
  expectSuccess('tar', ['-czf', join(packed, tarball), '-C', unpacked, 'package']);
  return packed;
}

async function onPypiserver() {
  const port = await freePort();
  const environment = join(folder, 'pypi');
  const python = join(environment, 'bin/python');
  const stored = join(folder, 'pypi-packages');
  mkdirSync(stored);
  expectSuccess('python3', ['-m', 'venv', environment]);
  expectSuccess(python, ['-m', 'pip', 'install', '--quiet', `pypiserver==${PYPISERVER}`]);
  await listen(port, join(environment, 'bin/pypi-server'), [
    ...['run', '--port', `${port}`, '--interface', '127.0.0.1', '--authenticate', '.', '--passwords', '.', stored],
  ]);
  publishTwice('pypi', {
    PYTHONUSERBASE: join(folder, 'pypi-user'),
    TWINE_REPOSITORY_URL: `http://127.0.0.1:${port}`,
    ...{ TWINE_USERNAME: 'local', TWINE_PASSWORD: 'local' },
  });
  report(
    'pypi',
    readdirSync(stored).some((file) => file.endsWith(`-${version}-py3-none-any.whl`)),
  );
}

async function onMavenRepository() {
  const repository = join(folder, 'maven');
  publishTwice('maven', {
    ...{ MAVEN_SERVER_ID: 'local', MAVEN_REPOSITORY_URL: `file://${repository}` },
    ...{ MAVEN_USERNAME: 'local', MAVEN_PASSWORD: 'local' },
  });
  report('maven', existsSync(join(repository, `io/github/cdk-even-shards/${name}/${version}/${name}-${version}.jar`)));
}

async function onGitRepository() {
  const repository = join(folder, 'go.git');
  expectSuccess('git', ['init', '--quiet', '--bare', repository]);
  publishTwice('golang', {
    GITHUB_TOKEN: 'local',
    ...{ GIT_USER_NAME: 'local', GIT_USER_EMAIL: 'local@localhost' },
    ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: `url.file://${repository}.insteadOf` },
    GIT_CONFIG_VALUE_0: `https://local@${GO_REPOSITORY}.git`,
  });
  const { stdout } = run('git', ['--git-dir', repository, 'tag']);
  report('golang', stdout.split('\n').includes(`cdkevenshards/v${version}`));
}

function report(target, isThere) {
  if (!isThere) throw new Error(`${target}: ${name} ${version} is not in the registry`);
  console.log(`${target}: ${name} ${version} is published, and a second time ends well`);
}

async function listen(port, program, args) {
  const server = spawn(program, args, { stdio: 'ignore' });
  servers.push(server);
  for (let attempt = 0; attempt < 600; attempt++) {
    if (
      await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
    )
      return;
    await sleep(100);
  }
  throw new Error(`${program} does not listen on its port`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function run(program, args, environment = {}) {
  // npm passes its own options to its child processes as environment variables. The programs must not see them.
  const inherited = Object.entries(process.env).filter(([variable]) => !variable.startsWith('npm_'));
  return spawnSync(program, args, { encoding: 'utf8', env: { ...Object.fromEntries(inherited), ...environment } });
}

function lastLines(text) {
  return text.trim().split('\n').slice(-20).join('\n');
}

function expectSuccess(program, args) {
  const { status, stdout, stderr, error } = run(program, args);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error ?? ''}\n${stdout}\n${stderr}`);
}
