import { spawn, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
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

const FOLDER = resolve('node_modules/.cache/step-functions-moto-5.2.5');
const PYTHON = join(FOLDER, 'bin/python');

/** moto's interpreter of the Amazon States Language, fetched into a cache the first time. False without Python. */
export function fetchInterpreter(): boolean {
  if (succeeds(PYTHON, '-c', 'import moto.stepfunctions.parser.models')) return true;
  // A virtual environment cannot be moved, so it is made where it stays.
  const requirements = join(__dirname, 'requirements.txt');
  return (
    succeeds('python3', '-m', 'venv', FOLDER) && succeeds(PYTHON, '-m', 'pip', 'install', '--quiet', '-r', requirements)
  );
}

/** Runs a state machine whose functions answer at a URL of this machine. */
export async function interpret(definition: object, input: object, url: string): Promise<Execution> {
  const interpreter = spawn(PYTHON, [join(__dirname, 'interpret.py'), url], { stdio: ['pipe', 'pipe', 'ignore'] });
  interpreter.stdin.end(JSON.stringify({ definition, input, bucket: BUCKET_NAME }));
  return JSON.parse(await text(interpreter.stdout)) as Execution;
}

function succeeds(command: string, ...commandArguments: string[]): boolean {
  return spawnSync(command, commandArguments, { stdio: 'ignore' }).status === 0;
}
