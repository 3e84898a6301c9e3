import { constants } from 'node:os';
import { print, printError, printText } from '../print';
import { startLocalConsole } from './console/console-server';
import { FunctionLogs } from './console/function-logs';
import { unlessFailed } from './emulators/emulator-thread';
import { endWithLauncher } from './end-with-launcher';
import { cassandraOf, gateOptions, LOCAL_HELP, localFlags, portOf } from './local-flags';
import { examples, readyLine } from './ready-message';
import { runCommand } from './run-command';
import { startLocal } from './run-local';
import { runSample } from './sample';

/** The maximum time that a run waits at its end for functions to handle the records of their streams. */
const SETTLE_MS = 10_000;

export async function local(args: string[]): Promise<void> {
  const [own, command] = withoutCommand(args);
  const flags = localFlags(own, command);
  if (flags.help) return printText(LOCAL_HELP);
  const say = flags.json || command !== undefined ? printError : print;
  // The local console shows the traffic that the gates count, so it needs gates even without limits.
  const gates = gateOptions(flags) ?? (flags.serve ? {} : undefined);
  const logs = new FunctionLogs();
  let report = (): void => {};
  endOnSignals(() => report());
  if (flags.serve) endWithLauncher();

  const stack = await startLocal({
    app: flags.app,
    port: portOf(flags.port),
    kinesisEndpoint: flags['kinesis-endpoint'],
    dynamodbEndpoint: flags['dynamodb-endpoint'],
    cassandra: cassandraOf(flags.cassandra),
    gates,
    strict: flags.strict,
    onProgress: say,
    onFunctionLog: (path, line) => {
      logs.sink(path, line);
      if (flags.logs) printError(`[${path}] ${line}`);
    },
  });
  report = () => {
    for (const line of [...stack.eventSources.report(), ...(stack.gates?.report() ?? [])]) say(line);
  };
  const localConsole = flags.serve ? await startLocalConsole(stack, stack.gates!, logs) : undefined;
  if (flags.json) print(readyLine(stack, localConsole));
  if (localConsole !== undefined) say(examples(stack, localConsole, flags.app));
  const { input = [], 'partition-key': partitionKey } = flags;
  const run = async (): Promise<void> => {
    if (command !== undefined) process.exitCode = await runCommand(stack, command);
    else if (flags.serve) await stack.failure;
    else await runSample(stack, { input, partitionKey, print: say });
  };
  await unlessFailed(run(), stack.failure);
  await stack.eventSources.settle(SETTLE_MS);
  report();
  await stack.stop();
}

/** Splits the arguments at `--`: the arguments of this command, and the command to run. */
function withoutCommand(args: string[]): [own: string[], command: string[] | undefined] {
  const at = args.indexOf('--');
  return at === -1 ? [args, undefined] : [args.slice(0, at), args.slice(at + 1)];
}

/**
 * Prints the report and exits on a signal. The services run in threads of this process, and the exit also ends the processes of
 * functions.
 */
function endOnSignals(report: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      report();
      process.exit(128 + constants.signals[signal]);
    });
  }
}
