import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import packageJson from '../../../package.json';
import EXPORTS from '../../support/door-exports.json';
import { synthesizeReferenceApp } from '../../support/reference-app';

/** Packs the package, installs the tarball, and uses it from separate projects. */

const ROOT = join(__dirname, '../../..');
const NAME = packageJson.name;

/** A project of a user with the CDK. */
let project: string;
/** A project with only the package, without the CDK and the emulators. */
let bare: string;
let installed: string;
/** The other packages that npm installed together with this package. */
let others: string[];

beforeAll(() => {
  project = temporaryDirectory();
  bare = temporaryDirectory();
  npm(ROOT, 'pack', '--ignore-scripts', '--pack-destination', project);
  const [tarball] = readdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }');
  npm(project, 'install', '--offline', '--legacy-peer-deps', `./${tarball}`);
  installed = join(project, 'node_modules', NAME);
  others = readdirSync(join(project, 'node_modules')).filter((name) => name !== NAME && !name.startsWith('.'));
  cpSync(installed, join(bare, 'node_modules', NAME), { recursive: true });
  for (const peer of Object.keys(packageJson.peerDependencies)) provide(project, peer);
}, 60_000);

afterAll(() => {
  for (const directory of [project, bare]) if (directory) rmSync(directory, { recursive: true, force: true });
});

function temporaryDirectory(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'package-')));
}

function npm(cwd: string, ...args: string[]): void {
  execFileSync('npm', args, { cwd, stdio: 'pipe', shell: process.platform === 'win32' });
}

/** Links a dependency of this repository into the folder where npm would install the dependency. */
function provide(directory: string, dependency: string): void {
  symlinkSync(join(ROOT, 'node_modules', dependency), join(directory, 'node_modules', dependency), 'junction');
}

/** Runs a file of a project in its own process, and returns its JSON output. */
function run(directory: string, file: string, code: string, env: Record<string, string> = {}): unknown {
  writeFileSync(join(directory, file), code);
  const { status, stdout, stderr } = node(directory, [file], env);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

function node(cwd: string, args: string[], env: Record<string, string> = {}): SpawnSyncReturns<string> {
  const inherited = { ...process.env };
  delete inherited.NODE_PATH;
  return spawnSync(process.execPath, args, {
    cwd,
    encoding: 'utf8',
    env: { ...inherited, JSII_DEPRECATED: 'quiet', ...env },
  });
}

/** Runs the command line as `npx even-shards` does. */
function cli(directory: string, ...args: string[]) {
  const { status, stdout, stderr } = node(directory, [
    join('node_modules', NAME, packageJson.bin['even-shards']),
    ...args,
  ]);
  return { status, stdout, stderr };
}

function filesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}

describe('the package', () => {
  test('contains only the files that users need', () => {
    const sources = filesOf(join(ROOT, 'lib'))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => file.replace(/\.ts$/, ''));
    const bundled = readdirSync(join(ROOT, 'lambda'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const documents = ['docs', 'examples/other-languages'].flatMap((folder) =>
      filesOf(join(ROOT, folder)).map((file) => join(folder, file)),
    );
    expect(filesOf(installed).sort()).toEqual(
      [
        ...['.jsii', 'LICENSE', 'README.md', 'package.json', ...documents],
        ...sources.flatMap((file) => [`dist/lib/${file}.js`, `dist/lib/${file}.d.ts`]),
        ...sources.filter((file) => /^(core|testing)\//.test(file)).map((file) => `dist/esm/${file}.js`),
        ...bundled.map(({ name }) => `dist/lambda/${name}/index.js`),
        ...[
          'app',
          'command-line',
          'even-shards',
          'local/functions/function-host',
          'local/emulators/emulator-guard',
        ].map((file) => `dist/bin/${file}.js`),
        ...filesOf(join(ROOT, 'bin/local/console'))
          .filter((file) => /\.(html|css|js)$/.test(file))
          .map((file) => `dist/bin/local/console/${file}`),
        ...['dist/THIRD-PARTY-LICENSES.txt', 'dist/bom.json'],
      ].sort(),
    );
  });

  test('has a bill of materials for its bundles, with the licence texts', () => {
    const { components } = JSON.parse(readFileSync(join(installed, 'dist/bom.json'), 'utf8'));
    const names = components.map(({ name, version }: { name: string; version: string }) => `${name} ${version}`);
    expect(names.join('\n')).toMatch(/^@aws-sdk\/client-kinesis \d/m);
    const licences = readFileSync(join(installed, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8').split('\n');
    expect(licences).toEqual(expect.arrayContaining(names));
  });

  test('has every file that its manifest names, and a type declaration for each module', () => {
    const { main, types, exports, bin } = packageJson;
    const targets = Object.values(exports).flatMap((target) =>
      typeof target === 'string' ? target : Object.values(target),
    );
    for (const file of [main, types, ...targets, ...Object.values(bin)]) {
      expect({ file, exists: existsSync(join(installed, file)) }).toEqual({ file, exists: true });
    }
    const modules = filesOf(join(installed, 'dist/lib')).filter((file) => file.endsWith('.js'));
    for (const file of modules) {
      const types = file.replace(/\.js$/, '.d.ts');
      expect({ types, exists: existsSync(join(installed, 'dist/lib', types)) }).toEqual({ types, exists: true });
    }
  });

  test('loads its modules at their first use, and throws errors with their codes', () => {
    const code = `
      const { Stack } = require('aws-cdk-lib');
      const { StreamReshardingProvider, UniformStream } = require(${JSON.stringify(join(ROOT, 'dist/lib'))});
      new StreamReshardingProvider(new Stack(), 'Provider');
      try { new UniformStream(new Stack(), 'Events', { shardCount: 0 }); } catch ({ code }) { console.log(code); }`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', code], { cwd: ROOT, encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'INVALID_SHARD_COUNT\n', stderr: '' });
  });

  test('has the same name and version as its jsii assembly', () => {
    const { name, version, types } = JSON.parse(readFileSync(join(installed, '.jsii'), 'utf8'));
    expect({ name, version }).toEqual({ name: NAME, version: packageJson.version });
    expect(Object.keys(types)).toContain(`${NAME}.UniformStream`);
  });

  test('has no dependencies', () => {
    expect(others).toEqual([]);
  });

  test('declares to bundlers that its modules have no side effects', () => {
    expect(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')).sideEffects).toBe(false);
  });
});

describe('the entry points', () => {
  const doors = Object.keys(packageJson.exports)
    .filter((door) => door !== '.' && !/json$|jsii$/.test(door))
    .map((door) => door.slice('./'.length));
  const valuesOf = (door: string) => {
    const lists: Record<string, { values: string[] }> = EXPORTS;
    return door === 'core' ? [] : lists[`${NAME}/${door}`]!.values;
  };

  test.each(doors)('require of %s works without other packages, and loads only the core and the stand-ins', (door) => {
    const code = `
      const names = Object.keys(require('${NAME}/${door}'));
      console.log(JSON.stringify({ names, loaded: Object.keys(require.cache) }));`;
    const { names, loaded } = run(bare, `${door}.cjs`, code) as { names: string[]; loaded: string[] };
    expect(names).toEqual(expect.arrayContaining(valuesOf(door)));
    const rooms = door === 'testing' ? ['core', 'testing'] : ['core'];
    const foreign = loaded
      .map((file) => relative(bare, file))
      .filter((file) => !rooms.some((room) => file.startsWith(`node_modules/${NAME}/dist/lib/${room}/`)));
    expect(foreign).toEqual([`${door}.cjs`]);
  });

  test.each(doors)('an ES module can import names from %s', (door) => {
    const [name] = door === 'core' ? ['OrderedProducer'] : valuesOf(door);
    const code = `
      import { ${name} } from '${NAME}/${door}';
      console.log(JSON.stringify(typeof ${name}));`;
    expect(run(bare, `${door}.mjs`, code)).toBe('function');
  });

  test('other paths cannot be imported', () => {
    const files = ['dist/lib/core/index.js', 'dist/lib/core/producer/index.js', 'dist/lib/core/kernel/errors.js'];
    const code = `
      const imports = ${JSON.stringify(files)}.map((file) => import('${NAME}/' + file).catch(({ code }) => code));
      console.log(JSON.stringify(await Promise.all(imports)));`;
    expect(run(bare, 'deep.mjs', code)).toEqual(files.map(() => 'ERR_PACKAGE_PATH_NOT_EXPORTED'));
  });
});

describe('the core', () => {
  const USE = `
    const client = {
      query: async ({ ExpressionAttributeValues: values }) => ({ Items: [{ id: Object.values(values)[0] }], ScannedCount: 1 }),
    };
    const page = fanOutQuery(client, {
      tableName: 'T', indexName: 'I', tableKey: ['id'], keyLayout: 'single-attribute', shardAttribute: 'shard',
      sortKeyAttributes: [], shards: { default: { write: 2, read: 2 } }, strategy: 'calculated',
    }, {}).then(({ items }) => items.length);`;

  test.each(['core', 'sharded-index'])('reads a page through %s without other packages', (door) => {
    const required = `const { fanOutQuery } = require('${NAME}/${door}'); ${USE} page.then((n) => console.log(n));`;
    expect(run(bare, 'page.cjs', required)).toBe(2);
    const imported = `import { fanOutQuery } from '${NAME}/${door}'; ${USE} console.log(await page);`;
    expect(run(bare, 'page.mjs', imported)).toBe(2);
  });
});

describe('the constructs', () => {
  const APP = `
    const app = new App();
    const stack = new Stack(app, 'Mine');
    const stream = new UniformStream(stack, 'Stream', { shardCount: 3 });
    new OrderedProducerFunction(stack, 'Producer', { stream });
    console.log(JSON.stringify(app.synth().directory));`;

  test.each([
    [
      'require',
      'app.cjs',
      `const { App, Stack } = require('aws-cdk-lib'); const { OrderedProducerFunction, UniformStream } = require('${NAME}');`,
    ],
    [
      'import',
      'app.mjs',
      `import { App, Stack } from 'aws-cdk-lib'; import { OrderedProducerFunction, UniformStream } from '${NAME}';`,
    ],
  ])('synthesize in an app that loads them with %s', (kind, file, imports) => {
    const outdir = join(project, `${kind}.out`);
    expect(run(project, file, imports + APP, { CDK_OUTDIR: outdir })).toBe(outdir);
    const { Resources } = JSON.parse(readFileSync(join(outdir, 'Mine.template.json'), 'utf8'));
    const resources = Object.values<{ Type: string; Properties: object }>(Resources);
    expect(resources).toContainEqual(
      expect.objectContaining({ Type: 'AWS::Kinesis::Stream', Properties: expect.objectContaining({ ShardCount: 3 }) }),
    );
    expect(resources.map(({ Type }) => Type)).toContain('AWS::Lambda::Function');

    const { files } = JSON.parse(readFileSync(join(outdir, 'Mine.assets.json'), 'utf8'));
    const directories = Object.values<{ source: { path: string; packaging: string } }>(files)
      .filter(({ source }) => source.packaging === 'zip')
      .map(({ source }) => join(outdir, source.path));
    expect(directories).toHaveLength(1);
    expect(readFileSync(join(directories[0]!, 'index.js'))).toEqual(
      readFileSync(join(installed, 'dist/lambda/producer/index.js')),
    );
  });
});

test('the package writes the golden bytes of its formats', () => {
  const script = [join(ROOT, 'scripts/golden.mjs'), 'check', '--project', project];
  const { status, stderr } = spawnSync(process.execPath, script, { cwd: ROOT, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}, 120_000);

describe('the command line', () => {
  let app: string;

  beforeAll(() => {
    app = synthesizeReferenceApp();
  });

  afterAll(() => rmSync(app, { recursive: true, force: true }));

  test('is installed as even-shards, and prints its usage', () => {
    const { status, stdout, stderr } = spawnSync(join(project, 'node_modules/.bin/even-shards'), ['local', '--help'], {
      cwd: project,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('usage: even-shards local [options]');
    expect(cli(bare, '--version')).toEqual({ status: 0, stdout: `${packageJson.version}\n`, stderr: '' });
  });

  test('without the emulators, prints the command that installs the emulators, and ends with exit code 1', () => {
    expect(cli(bare, 'local', '--app', app)).toEqual({
      status: 1,
      stdout: expect.any(String),
      stderr:
        'even-shards: [EMULATOR_MISSING] a local run needs kinesis-local, which is not installed: run `npm install --save-dev kinesis-local dynalite`\n',
    });
  });

  test("with the project's emulators, runs the sample", () => {
    for (const emulator of ['kinesis-local', 'dynalite']) provide(project, emulator);
    const { status, stdout, stderr } = cli(project, 'local', '--app', app);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('14 accounts, named 1 to 14, over the shards of EvenShards-Events');
  }, 30_000);
});
