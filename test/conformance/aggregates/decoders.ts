import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A decoder of aggregates that others wrote, fetched into a cache the first time; it is nobody's dependency. */
export interface Decoder {
  readonly name: string;
  readonly command: readonly string[];
  /** Whether it tells the explicit hash key of a user record. */
  readonly readsHashKeys: boolean;
}

interface MissingDecoder {
  readonly name: string;
  /** What is needed to fetch or run it. */
  readonly missing: string;
}

const CACHE = resolve('node_modules/.cache/aggregate-decoders');
const SOURCES = resolve(__dirname);

/** AWS's consumer for Java. It leaves out user records that are not in the range of their shard. */
export function kclDecoder(): Decoder | MissingDecoder {
  const name = 'the Kinesis Client Library';
  const jars = join(CACHE, 'kcl-3.5.1');
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';
  const pom = join(SOURCES, 'kcl/pom.xml');
  const isThere = fetched(jars, (folder) =>
    succeeds('mvn', '-q', '-B', '-f', pom, goal, `-DoutputDirectory=${folder}`),
  );
  if (!isThere || !succeeds('javac', '--version'))
    return { name, missing: 'Maven, Maven Central, and a JDK of version 17 or newer' };
  return { name, command: ['java', '-cp', join(jars, '*'), join(SOURCES, 'kcl/Decode.java')], readsHashKeys: true };
}

/** The decoder of AWS for Go. It knows no explicit hash keys. */
export function goDecoder(): Decoder | MissingDecoder {
  const name = 'the decoder of AWS for Go';
  const program = join(CACHE, 'go-20230214');
  const isThere = fetched(program, (folder) => {
    cpSync(join(SOURCES, 'go'), folder, { recursive: true });
    return succeeds('go', '-C', folder, 'build', '-mod=mod', '-o', 'decode', '.');
  });
  if (!isThere) return { name, missing: 'Go, and github.com/awslabs/kinesis-aggregation/go from its module proxy' };
  return { name, command: [join(program, 'decode')], readsHashKeys: false };
}

/** The decoder of AWS for Python. */
export function pythonDecoder(): Decoder | MissingDecoder {
  const name = 'the decoder of AWS for Python';
  const folder = join(CACHE, 'python-1.2.3');
  const python = join(folder, 'bin/python');
  const requirements = join(SOURCES, 'python/requirements.txt');
  // A virtual environment cannot be moved, so it is made where it stays.
  if (!succeeds(python, '-c', 'import aws_kinesis_agg.deaggregator')) {
    succeeds('python3', '-m', 'venv', folder);
    const isThere = succeeds(python, '-m', 'pip', 'install', '--quiet', '-r', requirements);
    if (!isThere) return { name, missing: 'python3 with venv, and the Python Package Index' };
  }
  return { name, command: [python, join(SOURCES, 'python/decode.py')], readsHashKeys: true };
}

/** Makes a folder, unless it is there: whole or not at all. */
function fetched(folder: string, fetch: (folder: string) => boolean): boolean {
  if (existsSync(folder)) return true;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  if (!fetch(part)) return false;
  renameSync(part, folder);
  return true;
}

function succeeds(program: string, ...programArguments: string[]): boolean {
  return spawnSync(program, programArguments).status === 0;
}
