import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fetchedFolder, jarsOf, PYTHON_NEEDED, pythonWith, succeeds } from '../../support/fetched';

/** An external decoder of aggregates. The first run fetches it into a cache. */
export interface Decoder {
  readonly name: string;
  readonly command: readonly string[];
  /** Whether the decoder returns the explicit hash key of a user record. */
  readonly readsHashKeys: boolean;
}

interface MissingDecoder {
  readonly name: string;
  /** The tools that are missing to fetch or run the decoder. */
  readonly missing: string;
}

const SOURCES = resolve(__dirname);

/** The Kinesis Client Library for Java. It leaves out user records outside the range of their shard. */
export function kclDecoder(): Decoder | MissingDecoder {
  const name = 'the Kinesis Client Library';
  const jars = jarsOf('aggregates-kcl-3.5.1', join(SOURCES, 'kcl/pom.xml'));
  if (jars === undefined || !succeeds('javac', '--version'))
    return { name, missing: 'Maven, Maven Central, and a JDK of version 17 or newer' };
  return { name, command: ['java', '-cp', join(jars, '*'), join(SOURCES, 'kcl/Decode.java')], readsHashKeys: true };
}

/** The decoder of AWS for Go. It does not return explicit hash keys. */
export function goDecoder(): Decoder | MissingDecoder {
  const name = 'the decoder of AWS for Go';
  const program = fetchedFolder('aggregates-go-20230214', (folder) => {
    cpSync(join(SOURCES, 'go'), folder, { recursive: true });
    return succeeds('go', '-C', folder, 'build', '-mod=mod', '-o', 'decode', '.');
  });
  if (program === undefined)
    return { name, missing: 'Go, and github.com/awslabs/kinesis-aggregation/go from its module proxy' };
  return { name, command: [join(program, 'decode')], readsHashKeys: false };
}

/** The decoder of AWS for Python. */
export function pythonDecoder(): Decoder | MissingDecoder {
  const name = 'the decoder of AWS for Python';
  const requirements = join(SOURCES, 'python/requirements.txt');
  const python = pythonWith('aggregates-python-1.2.3', ['-r', requirements], 'aws_kinesis_agg.deaggregator');
  if (python === undefined) return { name, missing: PYTHON_NEEDED };
  return { name, command: [python, join(SOURCES, 'python/decode.py')], readsHashKeys: true };
}
