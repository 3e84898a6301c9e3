import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LocalFunction } from '../../../bin/local/assembly/planned-function';
import { serviceOfHost } from '../../../bin/local/functions/aws-endpoint';
import { FunctionPool, LocalStackStoppedError } from '../../../bin/local/functions/function-pool';
import { errorText, type FunctionSinks } from '../../../bin/local/functions/function-process';
import { lambdaEnvironment } from '../../../bin/local/functions/lambda-environment';
import { closeServer, endpointOf, foreignRequestProblem, listenOnLoopback } from '../../../bin/local/loopback';
import { firstProblemLines } from '../../../bin/local/problem-lines';
import { deferred } from '../../../lib/core/kernel/deferred';

interface FunctionOptions {
  packages?: string[];
  environment?: Record<string, string>;
  runtime?: string;
  layers?: string[];
  missingLayers?: string[];
  unset?: Record<string, string>;
  sinks?: FunctionSinks;
  /** The endpoint of all emulated services. */
  endpoint?: string;
}

const project = mkdtempSync(join(tmpdir(), 'handler-module-'));
const pools: FunctionPool[] = [];

afterAll(() => Promise.all(pools.map((pool) => pool.stop())));

/** A function with these files. Its asset is in the folder of a project that uses ES modules. */
function functionOf(
  files: Record<string, string>,
  handler: string,
  {
    packages = [],
    environment = {},
    runtime = 'nodejs22.x',
    layers = [],
    missingLayers = [],
    unset = {},
    sinks,
    endpoint = 'http://127.0.0.1:1',
  }: FunctionOptions = {},
): FunctionPool {
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  const codeDirectory = mkdtempSync(join(project, 'asset.'));
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(codeDirectory, file)), { recursive: true });
    writeFileSync(join(codeDirectory, file), content);
  }
  const definition: LocalFunction = {
    path: 'Greeter',
    name: 'greeter',
    arn: 'arn:aws:lambda:us-east-1:000000000000:function:greeter',
    runtime,
    handler,
    codeDirectory,
    environment,
    unset,
    layers,
    missingLayers,
    timeoutSeconds: 3,
    memoryMb: 128,
    qualifiers: { live: '2', 7: '7' },
  };
  const endpoints = { kinesis: endpoint, dynamodb: endpoint, lambda: endpoint };
  const pool = new FunctionPool(definition, lambdaEnvironment(definition, endpoints, packages), sinks);
  pools.push(pool);
  return pool;
}

/** Invokes a function of these files with `{ name: 'x' }`. */
async function invoke(...of: Parameters<typeof functionOf>): Promise<unknown> {
  const { payload } = await functionOf(...of).invoke('{"name":"x"}');
  return JSON.parse(payload);
}

const COMMON = 'exports.handler = async ({ name }) => require("node:path").posix.join("hello", name);';
const MODULE =
  'import { posix } from "node:path"; export const handler = async ({ name }) => posix.join("hello", name);';

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
    { errorType: 'Runtime.UnhandledPromiseRejection', errorMessage: 'RangeError: lost' },
  ],
  [
    'an export that is not a function',
    { 'index.js': 'exports.handler = 1;' },
    'index.handler',
    { errorType: 'Runtime.HandlerNotFound', errorMessage: 'index.handler is not a function' },
  ],
  [
    'invalid syntax',
    { 'index.js': 'exports.handler = async (' },
    'index.handler',
    { errorType: 'Runtime.UserCodeSyntaxError', errorMessage: expect.stringMatching(/^SyntaxError: /) },
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
    const found = invoke({ [file]: content }, 'index.handler', { packages: [packages] });
    await expect(found).resolves.toBe('hello/x');
  });

  test.each([
    ['index.js', 'require("@aws-sdk/client-s3/commands");'],
    ['index.mjs', 'import "@aws-sdk/client-s3/commands";'],
  ])('is missing in the app – the error of %s names the package to install', async (file, content) => {
    await expect(invoke({ [file]: content }, 'index.handler', { packages: [packages] })).resolves.toMatchObject({
      errorType: 'Runtime.ImportModuleError',
      errorMessage: expect.stringMatching(
        /^Error.*: Cannot find .*\n(?:.*\n)*Lambda's runtime includes @aws-sdk\/client-s3, but a local run uses the packages of the app; install it: npm install --save-dev @aws-sdk\/client-s3$/,
      ),
    });
  });

  test('if another package is missing, the error is unchanged', async () => {
    await expect(invoke({ 'index.js': 'require("left-out")' }, 'index.handler')).resolves.toMatchObject({
      errorMessage: expect.stringContaining("Cannot find module 'left-out'\n"),
    });
  });
});

/**
 * Each form of a handler, with the responses of runtimes before nodejs24.x and of later runtimes. The responses are those of
 * aws-lambda-nodejs-runtime-interface-client, releases 3 and 4.
 */
const EXITED = 'Runtime.ExitError: RequestId: ID Error: Runtime exited without providing a reason';
const NO_CALLBACKS = expect.stringMatching(
  /^Runtime.CallbackHandlerDeprecated: ERROR: AWS Lambda has removed support for callback-based function handlers starting with Node.js 24\. /,
);
test.each<[string, string, unknown, unknown]>([
  ['async (event) => event.name', 'async function', 'x', 'x'],
  ['(event) => event.name', 'function that returns a value', null, 'x'],
  ['(event) => Promise.resolve(event.name)', 'function that returns a promise', 'x', 'x'],
  ['(event, context, callback) => { callback(null, 1); }', 'function that calls back', 1, NO_CALLBACKS],
  [
    '(event, context, callback) => { callback("no"); }',
    'function that calls back with an error',
    'string: no',
    NO_CALLBACKS,
  ],
  ['async (event, context, callback) => 1', 'async function with three parameters', 1, NO_CALLBACKS],
  ['async (event, context, callback = 0) => typeof callback', 'optional third parameter', 'function', 'number'],
  ['async (...all) => all.length', 'rest parameter', 3, 2],
  [
    'async () => Promise.reject(new RangeError("no"))',
    'async function that rejects',
    'RangeError: no',
    'RangeError: no',
  ],
  ['() => { throw new RangeError("no"); }', 'function that throws', 'RangeError: no', 'RangeError: no'],
  [
    'async () => new Promise(() => {})',
    'async function that never resolves',
    expect.stringMatching(/^Runtime.NodeJsExit: /),
    EXITED,
  ],
  ['() => new Promise(() => {})', 'function whose promise never resolves', null, EXITED],
  [
    '(event, context) => { setTimeout(() => context.done?.(null, 1), 5); }',
    'function that calls context.done',
    1,
    null,
  ],
  ['(event, context) => { context.succeed?.(1); context.fail?.("no"); }', 'function that responds twice', 1, null],
  ['(event, context) => { context.fail?.(); }', 'function that calls context.fail', 'string: handled', null],
  [
    '(...all) => { setTimeout(() => { all[1].late = 1; }, 20); all[2]?.(null, all[1]); }',
    'function that calls back before its timer has fired',
    expect.objectContaining({ late: 1 }),
    null,
  ],
  [
    '(...all) => { setTimeout(() => {}, 60_000); all[1].callbackWaitsForEmptyEventLoop = false; all[2]?.(null, 1); }',
    'function that does not wait for its timer',
    1,
    null,
  ],
  [
    'async () => { setTimeout(() => { throw new RangeError("late"); }); await new Promise((r) => setTimeout(r, 2_000)); }',
    'function with an uncaught error',
    'RangeError: late',
    expect.stringMatching(/exit status 1$/),
  ],
])('the handler `%s` (%s) has the response of its runtime', async (handler, _, ...expected) => {
  const responses = ['nodejs22.x', 'nodejs24.x'].map(async (runtime) => {
    const { payload, functionError } = await functionOf(
      { 'index.js': `exports.handler = ${handler};` },
      'index.handler',
      {
        runtime,
      },
    ).invoke('{"name":"x"}');
    const { errorType, errorMessage } = Object(JSON.parse(payload));
    if (functionError === undefined) return JSON.parse(payload);
    return `${errorType}: ${errorMessage.replace(/RequestId: [-0-9a-f]{36}/, 'RequestId: ID')}`;
  });
  expect(await Promise.all(responses)).toEqual(expected);
});

test.each([
  ['a timer throws', 'setTimeout(() => { throw new RangeError("late"); })', 'nodejs22.x', 'RangeError: late'],
  [
    'a promise rejects',
    'setTimeout(() => Promise.reject(new RangeError("late")))',
    'nodejs22.x',
    'Runtime.UnhandledPromiseRejection: RangeError: late',
  ],
  [
    'a timer throws',
    'setTimeout(() => { throw new RangeError("late"); })',
    'nodejs24.x',
    expect.stringMatching(/^Runtime.ExitError: .* exit status 1$/),
  ],
])(
  '%s after the response (%s, %s) – prints a line, the next invocation fails, and a later invocation succeeds',
  async (_, late, runtime, text) => {
    const code = `exports.handler = async ({ late }) => { if (late) ${late}; return 'ok'; };`;
    const line = deferred<string>();
    const sinks = { reportOnce: (_source: string, text: string) => line.resolve(text) };
    const pool = functionOf({ 'index.js': code }, 'index.handler', { runtime, sinks });
    expect(await pool.invoke('{"late":true}')).toEqual({ payload: '"ok"' });
    const [said, error] = (await line.promise).split(/(?<=next invocation): /);
    expect([said, error]).toEqual(['Greeter fails after its response, and so does its next invocation', text]);
    expect(errorText(await pool.invoke('{}'))).toEqual(text);
    expect(await pool.invoke('{}')).toEqual({ payload: '"ok"' });
  },
);

test('a local function runs in a process of its own, in its task root', async () => {
  const code = `exports.handler = async () => {
    const [folder] = [process.cwd(), process.chdir('..'), process.umask(0o22), process.chdir(process.env.LAMBDA_TASK_ROOT)];
    return [folder === process.env.LAMBDA_TASK_ROOT, require('node:fs').existsSync('./index.js'), new Date(0).getTimezoneOffset()];
  };`;
  await expect(invoke({ 'index.js': code }, 'index.handler')).resolves.toEqual([true, true, 0]);
});

test('a local function has the environment variables that Lambda defines, and none of the developer', async () => {
  const before = { ...process.env };
  const ofDeveloper = {
    AWS_PROFILE: 'p',
    AWS_USE_FIPS_ENDPOINT: 'true',
    HTTP_PROXY: 'http://p',
    NODE_OPTIONS: '--no-warnings',
  };
  Object.assign(process.env, ofDeveloper);
  const environment = { TZ: 'Europe/Berlin', OWN: '1' };
  const code = { 'index.js': 'exports.handler = async () => process.env;' };
  const found = (await invoke(code, 'index.handler', { environment })) as Record<string, string>;
  process.env = before;
  expect(found).toMatchObject({
    _HANDLER: 'index.handler',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
    AWS_LAMBDA_FUNCTION_NAME: 'greeter',
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/greeter',
    AWS_LAMBDA_LOG_STREAM_NAME: expect.stringMatching(/^\d{4}\/\d\d\/\d\d\/\[\$LATEST\][0-9a-f]{32}$/),
    AWS_REGION: 'us-east-1',
    AWS_SESSION_TOKEN: expect.any(String),
    LAMBDA_RUNTIME_DIR: '/var/runtime',
    LAMBDA_TASK_ROOT: expect.stringContaining('asset.'),
    LANG: 'en_US.UTF-8',
    OWN: '1',
    TZ: 'Europe/Berlin',
    _X_AMZN_TRACE_ID: expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24};Parent=[0-9a-f]{16};Sampled=0$/),
  });
  expect(Object.keys(ofDeveloper).filter((name) => name in found)).toEqual([]);
});

test.each([
  ['greeter', undefined, '$LATEST'],
  ['greeter:7', '7', '7'],
  ['greeter:live', 'live', '2'],
])('the context of an invocation of %s has the ARN and the version', async (named, qualifier, version) => {
  const code =
    'exports.handler = async (_, context) => [context.invokedFunctionArn, context.functionVersion, process.env.AWS_LAMBDA_FUNCTION_VERSION];';
  const { payload } = await functionOf({ 'index.js': code }, 'index.handler').invoke('{}', qualifier);
  expect(JSON.parse(payload)).toEqual([`arn:aws:lambda:us-east-1:000000000000:function:${named}`, version, version]);
});

describe('a call to AWS', () => {
  const OTHERS = {
    'sns.us-east-1.amazonaws.com': 'sns',
    'my.bucket.s3.eu-west-1.amazonaws.com': 's3',
    'sts.amazonaws.com': 'sts',
    'cloudtrail.us-east-1.amazonaws.com': 'cloudtrail',
    'sqs.cn-north-1.amazonaws.com.cn': 'sqs',
    'events.us-east-1.api.aws': 'EventBridge (events)',
  };

  test('fails with the name of the service and of the function, and prints one line for each service', async () => {
    const lines: string[] = [];
    const code = `exports.handler = () => Promise.all(${JSON.stringify(Object.keys(OTHERS))}.map((host) =>
      fetch('https://' + host).catch((error) => error.cause.message)));`;
    const pool = functionOf({ 'index.js': code }, 'index.handler', {
      sinks: { reportOnce: firstProblemLines((line) => lines.push(line)) },
    });
    const problems = Object.entries(OTHERS).map(
      ([host, service]) => `${service} is not emulated: the function Greeter called ${host}`,
    );
    for (let times = 0; times < 2; times += 1) {
      expect(JSON.parse((await pool.invoke('{}')).payload)).toEqual(problems);
    }
    expect(lines.sort()).toEqual(problems.sort());
  });

  test.each([
    'shop.us-east-1.elb.amazonaws.com',
    'ec2-1-2-3-4.compute-1.amazonaws.com',
    'shop.cluster-a.us-east-1.docdb.amazonaws.com',
    'shop.a.0001.use1.cache.amazonaws.com',
    'shop-a.us-east-1.es.amazonaws.com',
    'shop.a.us-east-1.redshift.amazonaws.com',
    'b-1.shop.a.c2.kafka.us-east-1.amazonaws.com',
    'shop.a.us-east-1.rds.amazonaws.com',
    'a1b2.execute-api.us-east-1.amazonaws.com',
    'a1b2.appsync-api.us-east-1.amazonaws.com',
    'amazonaws.com.example.org',
  ])("is not a request to the developer's own server %s", (host) => {
    expect(serviceOfHost(host)).toBeUndefined();
  });

  test('goes to the local endpoint if the service is emulated, for every way in which SDKs connect', async () => {
    const requested: string[] = [];
    const server = createServer((request, response) => {
      requested.push(`${foreignRequestProblem(request.headers)} ${request.headers.host}`);
      request.resume().once('end', () => response.end('local'));
    });
    await listenOnLoopback(server);
    const endpoint = endpointOf(server);
    const code = `
      const { request } = require('node:https');
      const { buffer } = require('node:stream/consumers');
      const read = (stream) => buffer(stream).then(String);
      const host = (service) => service + '.eu-west-1.amazonaws.com';
      exports.handler = async () => [
        await new Promise((resolve, reject) => request({ host: host('dynamodb'), headers: { Host: host('dynamodb') } },
          (response) => resolve(read(response))).once('error', reject).end()),
        await new Promise((resolve, reject) => {
          const session = require('node:http2').connect('https://' + host('kinesis')).once('error', reject);
          resolve(read(session.request({ ':method': 'POST' }).once('error', reject).end()).finally(() => session.close()));
        }),
        await fetch('https://' + host('lambda')).then((response) => response.text()),
      ];`;
    const found = invoke({ 'index.js': code }, 'index.handler', { endpoint });
    await expect(found).resolves.toEqual(['local', 'local', 'local']);
    await closeServer(server);
    const hosts = ['dynamodb.eu-west-1', 'kinesis.eu-west-1', 'lambda.eu-west-1'];
    expect(requested.map((each) => each.replace(':443', ''))).toEqual(
      hosts.map((host) => `undefined ${host}.amazonaws.com`),
    );
  });
});

test('the failure of a function names the variables of its template that are not set, also if it responds with an error', async () => {
  const lines: string[] = [];
  const sinks = { reportOnce: firstProblemLines((line: string) => lines.push(line)) };
  const code = `exports.handler = async ({ fail }) => {
    if (fail) throw new Error("no topic");
    return { statusCode: 502 };
  };`;
  const pool = functionOf({ 'index.js': code }, 'index.handler', { sinks, unset: { TOPIC_ARN: 'unknown' } });
  expect(errorText(await pool.invoke('{"fail":1}'))).toBe('Error: no topic. Not set here: TOPIC_ARN');
  expect(lines).toEqual([]);
  for (const event of ['{}', '{}']) await pool.invoke(event);
  expect(lines).toEqual(['Greeter responds with an error. Not set here: TOPIC_ARN']);
});

test('a function that needs response streaming fails with the name of the feature', async () => {
  const code = 'exports.handler = awslambda.streamifyResponse(async () => {});';
  await expect(invoke({ 'index.js': code }, 'index.handler')).resolves.toMatchObject({
    errorMessage: 'response streaming (awslambda.streamifyResponse) is not emulated in a local run',
  });
});

describe('a layer', () => {
  const layers = [join(project, 'layer')];
  const files = { 'index.mjs': 'import greet from "greeter"; export const handler = async ({ name }) => greet(name);' };
  beforeAll(() => {
    mkdirSync(join(layers[0]!, 'nodejs/node_modules/greeter'), { recursive: true });
    writeFileSync(
      join(layers[0]!, 'nodejs/node_modules/greeter/index.js'),
      'module.exports = (name) => "hello/" + name;',
    );
  });

  test.each([
    ['index.js', 'const greet = require("greeter"); exports.handler = async ({ name }) => greet(name);'],
    ['index.mjs', files['index.mjs']],
  ])('of the assembly has the packages that %s imports', async (file, code) => {
    await expect(invoke({ [file]: code }, 'index.handler', { layers })).resolves.toBe('hello/x');
  });

  test('that does not run here is named by the error of an import', async () => {
    await expect(invoke(files, 'index.handler', { missingLayers: ['App/Layer'] })).resolves.toMatchObject({
      errorMessage: expect.stringMatching(/^Cannot find package 'greeter' .*\nNot emulated: the layer App\/Layer$/),
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
