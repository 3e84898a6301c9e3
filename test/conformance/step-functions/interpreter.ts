import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pythonOf, pythonWith } from '../../support/fetched';
import { BUCKET_NAME } from '../../support/stacks/resharding-stack';

/** What an execution ended with. */
interface Execution {
  status: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
  output: unknown;
  error: string | null;
  cause: string | null;
  /** What the bucket holds, by its keys. */
  objects: Record<string, string>;
}

const ENVIRONMENT = 'step-functions-moto-5.2.5';

/** moto's interpreter of the Amazon States Language, fetched into a cache the first time. False without Python. */
export function fetchInterpreter(): boolean {
  const requirements = join(__dirname, 'requirements.txt');
  return pythonWith(ENVIRONMENT, ['-r', requirements], 'moto.stepfunctions.parser.models') !== undefined;
}

/** Runs a state machine whose functions answer at a URL of this machine. */
export async function interpret(definition: object, input: object, url: string): Promise<Execution> {
  const program = [join(__dirname, 'interpret.py'), url];
  const interpreter = spawn(pythonOf(ENVIRONMENT), program, { stdio: ['pipe', 'pipe', 'ignore'] });
  interpreter.stdin.end(JSON.stringify({ definition, input, bucket: BUCKET_NAME }));
  return JSON.parse(await text(interpreter.stdout)) as Execution;
}
