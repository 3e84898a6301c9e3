import { randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EvenShardsError, InvalidArgumentError } from '../../../lib/core/kernel/errors';
import type { ShardedConfig } from '../../../lib/core/sharded-index/config/sharded-index-config';
import type { Gates } from '../limits/gates';
import { closeServer, endpointOf, listenOnLoopback } from '../loopback';
import { FunctionFailedError, type LocalStack } from '../run-local';
import { samplePayloads } from '../sample-payloads';
import { busiestHashKeys, consoleState } from './console-state';
import type { FunctionLogs } from './function-logs';
import { storedItems } from './stored-items';
import { storedRows } from './stored-rows';
import { changeParked, type ParkedChange } from './stream-consumers';
import { WatchedStack } from './watched-stack';

export interface LocalConsole {
  /** The URL of the local console. It contains a secret token. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The JavaScript modules of the page. */
const SCRIPTS = [
  ...['page.js', 'elements.js', 'forms.js', 'stream-view.js', 'consumer-view.js'],
  ...['index-view.js', 'counts-view.js', 'keyspaces-view.js'],
];

/** The time between two states that the server sends to the page. */
const EVENT_MS = 500;

/** The maximum size of a request body, in bytes. The body is the JSON of an event. */
const MAX_BYTES = 6 * 1024 * 1024;

/**
 * Serves the local console, which shows what happens in a local stack. The server listens on the loopback interface,
 * at a URL with a token. The server rejects requests with another host name or from another page, so that a web site
 * in the browser cannot use the console.
 */
export async function startLocalConsole(stack: LocalStack, gates: Gates, logs: FunctionLogs): Promise<LocalConsole> {
  const token = randomBytes(18).toString('base64url');
  const watched = new WatchedStack(stack, gates);
  /** The responses to the open pages, each with the search text of its page. */
  const openStreams = new Map<ServerResponse, string>();
  const files = pageFiles();
  const actions = actionsOf(watched, logs);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host, origin = `http://${host}` } = request.headers;
    const address = endpointOf(server);
    if (`http://${host}` !== address || origin !== address) return refuse(response, 403, 'use the printed address');
    const { pathname, searchParams } = new URL(request.url ?? '/', address);
    const [, given = '', ...rest] = pathname.split('/');
    if (!isSame(given, token)) return refuse(response, 404, 'no such page');
    const name = rest.join('/');
    if (name === 'events') return streamState(response, searchParams.get('search') ?? '');
    const file = Object.hasOwn(files, name) ? files[name] : undefined;
    if (request.method === 'GET' && file !== undefined) return send(response, 200, ...file);
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (request.method !== 'POST' || action === undefined) return refuse(response, 404, 'no such page');
    const output = await action((await readJson(request)) as never);
    send(response, 200, 'application/json', JSON.stringify(output));
  }

  /**
   * Sends whole states instead of changes. If a page has missed some states, such as on a sleeping laptop, the next
   * state makes the page complete again.
   */
  function streamState(response: ServerResponse, search: string): void {
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' });
    openStreams.set(response, search);
    response.once('close', () => openStreams.delete(response));
    void tell([[response, search]]).catch(() => {});
  }

  async function tell(pages: Iterable<[ServerResponse, string]>): Promise<void> {
    const events = new Map<string, string>();
    for (const [response, search] of pages) {
      const event = events.get(search) ?? `data: ${JSON.stringify(await consoleState(watched, search))}\n\n`;
      events.set(search, event);
      // A slow page receives its next state only after it has read the previous state.
      if (response.writableLength === 0) response.write(event);
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      const isOurs = error instanceof EvenShardsError;
      const problem = isOurs ? error.message : `the local run failed: ${String(error)}`;
      refuse(response, error instanceof InvalidArgumentError ? 400 : 500, problem);
    });
  });
  await listenOnLoopback(server);
  // Polls even if no page is open, because a page shows the history since the start.
  const stopPolling = repeat(() => watched.poll((streamName) => busiestHashKeys(watched, streamName)));
  const stopStreaming = repeat(() => tell(openStreams));
  return {
    url: `${endpointOf(server)}/${token}/`,
    stop: async () => {
      await Promise.all([stopPolling(), stopStreaming()]);
      await closeServer(server);
    },
  };
}

function pageFiles(): Readonly<Record<string, readonly [type: string, content: string]>> {
  const scripts = SCRIPTS.map((name) => [name, ['text/javascript', pageFile(name)]] as const);
  return {
    '': ['text/html', pageFile('page.html')],
    'page.css': ['text/css', pageFile('page.css')],
    ...Object.fromEntries(scripts),
  };
}

/** The actions of the page, by name. Each action receives the parsed JSON of the request body. */
function actionsOf(
  watched: WatchedStack,
  logs: FunctionLogs,
): Readonly<Record<string, (input: never) => Promise<unknown>>> {
  const { stack } = watched;
  return {
    app: async () => describeApp(watched),
    invoke: ({ name, event }: { name: string; event: unknown }) => invoke(stack, logs, name, event),
    stored: ({ path, index }: { path: string; index: string }) => {
      const table = stack.keyspaces?.tables.find((each) => each.path === path);
      if (table !== undefined) return storedRows(stack.keyspaces!.client, table.config);
      return storedItems(stack, configOf(watched, path, index));
    },
    parked: (change: ParkedChange) => changeParked(watched, change),
  };
}

/**
 * Repeats `act`, with a pause after each call. Returns a function that stops the repetition and waits for a running
 * call.
 */
function repeat(act: () => Promise<void>): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const acting = (async () => {
    while (!signal.aborted) {
      await act().catch(() => {});
      await sleep(EVENT_MS, undefined, { signal }).catch(() => {});
    }
  })();
  return () => {
    stopped.abort();
    return acting;
  };
}

/** The page may load only its own files, cannot be framed, and sends no referrer. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; connect-src 'self'; img-src data:; script-src 'self'; style-src 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

function send(response: ServerResponse, status: number, type: string, content: string): void {
  response.writeHead(status, { ...HEADERS, 'content-type': `${type}; charset=utf-8` });
  response.end(content);
}

function refuse(response: ServerResponse, status: number, problem: string): void {
  if (response.headersSent) response.destroy();
  else send(response, status, 'application/json', JSON.stringify({ problem }));
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new InvalidArgumentError('body', `${bytes} bytes`, `at most ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString() || '{}');
  } catch (error) {
    throw new InvalidArgumentError('body', (error as Error).message, 'JSON');
  }
}

/** The functions, indexes and tables that the forms of the page offer. */
function describeApp({ stack, sharded }: WatchedStack): object {
  const payloads = samplePayloads(stack);
  return {
    functions: stack.functions.map(({ path }) => ({ path, event: payloads.get(path) ?? {} })),
    keyspacesTables: (stack.keyspaces?.tables ?? []).map(({ path, name, config: { shards } }) => ({
      path,
      name,
      shards,
    })),
    indexes: sharded.map(({ config: { indexName = '' }, path }) => ({ path, index: indexName })),
  };
}

function configOf({ sharded }: WatchedStack, path: string, index: string): ShardedConfig {
  const named = (each: { path: string; config: ShardedConfig }) => nameOf(each.path, each.config.indexName);
  const found = sharded.find((each) => named(each) === nameOf(path, index));
  if (found !== undefined) return found.config;
  throw new InvalidArgumentError('index', nameOf(path, index), `one of ${sharded.map(named).join(', ')}`);
}

function nameOf(path: string, index = ''): string {
  return index === '' ? path : `${index} of ${path}`;
}

/** The maximum delay between the result of a function and its last log lines. */
const LOG_DELAY_MS = 100;

/** Invokes a function. Returns its response, its log lines and its metrics. */
async function invoke(stack: LocalStack, logs: FunctionLogs, name: string, event: unknown): Promise<object> {
  const [startMs, end] = [performance.now(), logs.end];
  const outcome = await stack.invoke(name, event).then(
    (answer) => ({ answer }),
    (error) => {
      if (!(error instanceof FunctionFailedError)) throw error;
      return { error: error.message, trace: error.trace };
    },
  );
  const ms = performance.now() - startMs;
  await sleep(LOG_DELAY_MS);
  const log = logs.since(end, name);
  // The log lines without metrics, because the metrics are returned separately.
  const lines = log.filter((line) => metricsOf(line).length === 0);
  return { ...outcome, ms: Math.round(ms * 10) / 10, log: lines, metrics: log.flatMap(metricsOf) };
}

/** The metric values of a line in the embedded metric format. Empty for any other line. */
function metricsOf(line: string): Record<string, unknown>[] {
  if (!line.includes('"CloudWatchMetrics"')) return [];
  try {
    const { _aws, ...values } = JSON.parse(line);
    return [values];
  } catch {
    return [];
  }
}

/** The path of a file of the page. The file is next to this module or next to the bundled command. */
function pageFile(name: string): string {
  const bundled = join(__dirname, 'local/console', name);
  return readFileSync(existsSync(bundled) ? bundled : join(__dirname, name), 'utf8');
}
