import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pythonOf, pythonWith } from '../../support/fetched';
import { BUCKET_NAME } from '../../support/stacks/resharding-stack';

/** The result of an execution. */
interface Execution {
  status: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
  output: unknown;
  error: string | null;
  cause: string | null;
  /** The objects in the bucket by key. */
  objects: Record<string, string>;
}

const ENVIRONMENT = 'step-functions-moto-5.2.5';

/** Fetches moto's interpreter of the Amazon States Language into a cache at the first run. False without Python. */
export function fetchInterpreter(): boolean {
  const requirements = join(__dirname, 'requirements.txt');
  return pythonWith(ENVIRONMENT, ['-r', requirements], 'moto.stepfunctions.parser.models') !== undefined;
}

/** Runs a state machine that calls its functions at a URL of this machine. */
export async function interpret(definition: object, input: object, url: string): Promise<Execution> {
  const program = [join(__dirname, 'interpret.py'), url];
  const interpreter = spawn(pythonOf(ENVIRONMENT), program, { stdio: ['pipe', 'pipe', 'ignore'] });
  interpreter.stdin.end(JSON.stringify({ definition, input, bucket: BUCKET_NAME }));
  return JSON.parse(await text(interpreter.stdout)) as Execution;
}
