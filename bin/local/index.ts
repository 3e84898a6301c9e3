import { constants } from 'node:os';
import { findDynoxide } from './emulators/dynoxide';
import { unlessFailed } from './emulators/emulator-thread';
import { endWithLauncher } from './end-with-launcher';
import { cassandraOf, gateOptions, LOCAL_HELP, localFlags, port } from './local-flags';
import { examples, readyLine } from './ready-message';
import { startLocal } from './run-local';
import { runSample } from './sample';
import { FunctionLogs } from './window/function-logs';
import { startWindow } from './window/window-server';

/** `even-shards local`. */
export async function local(args: string[]): Promise<void> {
  const flags = localFlags(args);
  if (flags.help) return console.log(LOCAL_HELP);
  const print = flags.json ? console.error : console.log;
  // The window watches what passes, limited or not.
  const gates = gateOptions(flags) ?? (flags.serve ? {} : undefined);
  const logs = new FunctionLogs();
  let report = (): void => {};
  endOnSignals(() => report());
  if (flags.serve) endWithLauncher();

  const stack = await startLocal({
    app: flags.app,
    port: port(flags.port),
    kinesisEndpoint: flags['kinesis-endpoint'],
    dynamodbEndpoint: flags['dynamodb-endpoint'],
    cassandra: cassandraOf(flags.cassandra),
    dynoxide: flags.dynalite ? undefined : findDynoxide(),
    gates,
    onProgress: print,
    onFunctionLog: (path, line) => {
      logs.sink(path, line);
      if (flags.logs) console.error(`[${path}] ${line}`);
    },
  });
  report = () => {
    for (const line of stack.gates?.report() ?? []) print(line);
  };
  const window = flags.serve ? await startWindow(stack, stack.gates!, logs) : undefined;
  if (flags.json) console.log(readyLine(stack, window));
  if (window !== undefined) print(examples(stack, window).join('\n'));
  const { input = [], 'partition-key': partitionKey, ...sample } = flags;
  const run = flags.serve ? stack.failure : runSample(stack, { ...sample, input, partitionKey, print });
  await unlessFailed(run, stack.failure);
  report();
  await stack.stop();
}

/** Everything runs in threads of this process: its end is the end of them all. */
function endOnSignals(report: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      report();
      process.exit(128 + constants.signals[signal]);
    });
  }
}
