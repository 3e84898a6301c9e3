/**
 * Runs the function in this folder once. Reads the event from standard input, and writes the response into a file.
 * Exits with 1 if the function fails.
 */
const { readFileSync, writeFileSync, existsSync } = require('node:fs');
const http = require('node:http');
const https = require('node:https');
const { resolve } = require('node:path');
const { pathToFileURL } = require('node:url');

/**
 * The provider framework sends the response of a custom resource to port 443 by HTTPS, even if the URL has another
 * port. This replacement sends the response to the emulator.
 */
https.request = (options, onResponse) =>
  http.request({ ...options, hostname: '127.0.0.1', port: process.env.RESPONSES_PORT }, onResponse);

const deadline = Date.now() + Number(process.env.AWS_LAMBDA_FUNCTION_TIMEOUT) * 1000;
const context = {
  awsRequestId: `${process.pid}-${Date.now()}`,
  functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
  functionVersion: '$LATEST',
  invokedFunctionArn: `arn:aws:lambda:${process.env.AWS_REGION}:123456789012:function:${process.env.AWS_LAMBDA_FUNCTION_NAME}`,
  memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
  getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
};

async function run() {
  const [fileName, name] = process.env._HANDLER.split('.');
  const file = ['mjs', 'js', 'cjs'].map((end) => resolve(`${fileName}.${end}`)).find(existsSync);
  const loaded = await import(pathToFileURL(file));
  const handler = loaded[name] ?? loaded.default[name];
  return handler(JSON.parse(readFileSync(0, 'utf8')), context);
}

run().then(
  (answer) => end(answer ?? null, 0),
  (error) => end({ errorType: error.name, errorMessage: error.message, trace: String(error.stack).split('\n') }, 1),
);

function end(answer, code) {
  writeFileSync(process.argv[2], JSON.stringify(answer));
  process.exit(code);
}
