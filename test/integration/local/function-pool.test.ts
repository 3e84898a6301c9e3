import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FunctionPool, LocalStackStoppedError } from '../../../bin/local/functions/function-pool';

const project = mkdtempSync(join(tmpdir(), 'handler-module-'));
const pools: FunctionPool[] = [];

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.stop()));
  rmSync(project, { recursive: true });
});

/** A function with these files. Its asset is in the folder of a project that uses ES modules. */
function functionOf(
  files: Record<string, string>,
  handler: string,
  environment: Record<string, string> = {},
): FunctionPool {
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  const codeDirectory = mkdtempSync(join(project, 'asset.'));
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(codeDirectory, file)), { recursive: true });
    writeFileSync(join(codeDirectory, file), content);
  }
  const pool = new FunctionPool(
    {
      path: 'Greeter',
      name: 'greeter',
      arn: 'arn:aws:lambda:us-east-1:000000000000:function:greeter',
      runtime: 'nodejs22.x',
      handler,
      codeDirectory,
      environment: {},
      unset: {},
      timeoutSeconds: 3,
      memoryMb: 128,
    },
    environment,
  );
  pools.push(pool);
  return pool;
}

/** Invokes a function of these files with `{ name: 'x' }`. */
async function invoke(...of: Parameters<typeof functionOf>): Promise<unknown> {
  const { payload } = await functionOf(...of).invoke('{"name":"x"}');
  return JSON.parse(payload);
}

const COMMON = 'exports.handler = async ({ name }) => require("node:path").posix.join("hello", name);';
const MODULE = 'import { posix } from "node:path"; export const handler = ({ name }) => posix.join("hello", name);';

test.each<[string, Record<string, string>, string]>([
  ['index.js of CommonJS in a project of ES modules', { 'index.js': COMMON }, 'index.handler'],
  ['index.cjs', { 'index.cjs': COMMON }, 'index.handler'],
  ['index.mjs', { 'index.mjs': MODULE }, 'index.handler'],
  [
    'index.js of an asset with "type": "module"',
    { 'index.js': MODULE, 'package.json': '{"type":"module"}' },
    'index.handler',
  ],
  ['a nested export', { 'index.js': 'exports.api = { get: async ({ name }) => "hello/" + name };' }, 'index.api.get'],
  [
    'a handler that calls back',
    { 'index.js': 'exports.handler = (e, c, done) => done(null, "hello/" + e.name);' },
    'index.handler',
  ],
  [
    'a dynamic import',
    {
      'index.js': 'exports.handler = async (e) => (await import("./part.mjs")).default + e.name;',
      'part.mjs': 'export default "hello/";',
    },
    'index.handler',
  ],
])('a local function loads %s', async (_, files, handler) => {
  await expect(invoke(files, handler)).resolves.toBe('hello/x');
});

test.each<[string, Record<string, string>, string, object]>([
  [
    'a missing file',
    {},
    'index.handler',
    { errorType: 'Runtime.ImportModuleError', errorMessage: "Error: Cannot find module 'index'" },
  ],
  [
    'a missing export',
    { 'index.js': 'exports.main = 1;' },
    'index.handler',
    { errorType: 'Runtime.HandlerNotFound', errorMessage: 'index.handler is undefined or not exported' },
  ],
  ['a handler outside the asset', {}, '../other/index.handler', { errorType: 'Runtime.MalformedHandlerName' }],
  ['a handler name without an export', { 'index.js': COMMON }, 'index', { errorType: 'Runtime.MalformedHandlerName' }],
  [
    'code that throws as it loads',
    { 'index.js': 'throw new RangeError("too few")' },
    'index.handler',
    { errorType: 'RangeError' },
  ],
  [
    'a result that is not JSON',
    { 'index.js': 'exports.handler = async () => 1n;' },
    'index.handler',
    { errorMessage: 'Unable to stringify response body' },
  ],
  [
    'an unhandled rejection',
    { 'index.js': 'exports.handler = () => new Promise(() => { Promise.reject(new RangeError("lost")) });' },
    'index.handler',
    { errorType: 'RangeError', errorMessage: 'lost' },
  ],
])('a local function reports %s as Lambda does', async (_, files, handler, error) => {
  await expect(invoke(files, handler)).resolves.toMatchObject(error);
});

describe('a package of the Lambda runtime', () => {
  const packages = join(project, 'functions/node_modules');
  const files = {
    '@aws-sdk/lib-dynamodb/package.json': '{"main":"index.js","exports":{".":"./index.js"}}',
    '@aws-sdk/lib-dynamodb/index.js': 'exports.hello = (name) => require("@aws-sdk/beside") + name;',
    '@aws-sdk/beside/index.js': 'module.exports = "hello/";',
  };
  beforeAll(() => {
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(dirname(join(packages, file)), { recursive: true });
      writeFileSync(join(packages, file), content);
    }
  });

  test.each([
    ['index.js', 'const { hello } = require("@aws-sdk/lib-dynamodb"); exports.handler = async (e) => hello(e.name);'],
    ['index.mjs', 'import { hello } from "@aws-sdk/lib-dynamodb"; export const handler = async (e) => hello(e.name);'],
  ])('is loaded by %s from the packages of the app', async (file, content) => {
    const found = invoke({ [file]: content }, 'index.handler', { NODE_PATH: packages });
    await expect(found).resolves.toBe('hello/x');
  });

  test.each([
    ['index.js', 'require("@aws-sdk/client-s3/commands");'],
    ['index.mjs', 'import "@aws-sdk/client-s3/commands";'],
  ])('is missing in the app – the error of %s names the package to install', async (file, content) => {
    await expect(invoke({ [file]: content }, 'index.handler', { NODE_PATH: packages })).resolves.toMatchObject({
      errorType: 'Runtime.ImportModuleError',
      errorMessage:
        "Error: Cannot find module '@aws-sdk/client-s3': Lambda's runtime includes it, but a local run uses the packages " +
        'of the app; install it: npm install --save-dev @aws-sdk/client-s3',
    });
  });

  test('if another package is missing, the error is unchanged', async () => {
    await expect(invoke({ 'index.js': 'require("left-out")' }, 'index.handler')).resolves.toMatchObject({
      errorMessage: expect.stringContaining("Cannot find module 'left-out'\n"),
    });
  });
});

test('FunctionPool.stop rejects the invocations that wait for an instance', async () => {
  const pool = functionOf({ 'index.js': 'exports.handler = () => new Promise(() => {});' }, 'index.handler');
  const settled = Promise.allSettled(Array.from({ length: 30 }, () => pool.invoke('{}')));
  await pool.stop();
  const outcomes = await settled;
  const rejections = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  // A pool has at most eight instances.
  expect(rejections).toHaveLength(30 - 8);
  for (const reason of rejections) expect(reason).toBeInstanceOf(LocalStackStoppedError);
});
