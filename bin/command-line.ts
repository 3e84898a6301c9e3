import { inspect } from 'node:util';
import { EvenShardsError } from '../lib/core/kernel/errors';
import { exitCodeOf, runCommand } from './commands';
import { EXIT_BROKEN } from './exit-broken';
import { printError, printProblem } from './print';

/**
 * If the reader of the output stops, as head(1) does, this process ends silently, as SIGPIPE would end it. If the output
 * cannot be written, as on a full disk, this process ends with a message on standard error.
 */
function endWithoutOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(141);
      if (stream === process.stdout) printError(`even-shards: cannot write to standard output: ${error.message}`);
      process.exit(EXIT_BROKEN);
    });
  }
}

// Switches off a warning of the SDK. The bundled SDK runs on this version of Node.js. The warning is about later versions of the SDK.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

endWithoutOutput();
process.on('uncaughtException', endWith);
runCommand(process.argv.slice(2)).catch(endWith);

function endWith(error: unknown): void {
  const problem = error instanceof EvenShardsError ? error.message : `internal error: ${inspect(error)}`;
  printProblem(`even-shards: ${problem}`);
  process.exit(exitCodeOf(error));
}
