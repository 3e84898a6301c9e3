import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { findStrayRows, selectRow } from '../../../lib/core';
import { givenRow, shardedRowVectors } from '../../../scripts/vectors/sharded-rows';
import { jarsOf, PYTHON_NEEDED, pythonWith } from '../../support/fetched';
import { cassandraForTests } from './cassandra';
import { tableOf } from './create-table';

/** Writes rows with the writers and drivers of examples/other-languages, and finds the rows by their key. */

const EXAMPLES = resolve('examples/other-languages');
const WRITERS = join(__dirname, 'writers');
const SUPPORT = resolve('test/support/writers');
const folder = mkdtempSync(join(tmpdir(), 'row-writers-'));

/** A program that writes rows, with its command. Undefined if its tools are missing. */
type Program = [command: string, programArguments: string[], environment?: Record<string, string>];

function inPython(): Program | undefined {
  const python = pythonWith('keyspaces-python-3.30.1', ['-r', join(WRITERS, 'requirements.txt')], 'cassandra.cluster');
  if (python === undefined) return undefined;
  return [
    python,
    [join(WRITERS, 'write_rows.py')],
    { PYTHONPATH: [join(EXAMPLES, 'python'), SUPPORT].join(delimiter), PYTHONDONTWRITEBYTECODE: '1' },
  ];
}

function inJava(): Program | undefined {
  const jars = jarsOf('keyspaces-java-4.19.0', join(WRITERS, 'pom.xml'));
  if (jars === undefined) return undefined;
  const classPath = [join(jars, '*'), folder].join(delimiter);
  const sources = ['ShardedRowWriter.java', 'ShardedIndexWriter.java'].map((file) => join(EXAMPLES, 'java', file));
  const compile = [
    '-encoding',
    'UTF-8',
    '-cp',
    classPath,
    '-d',
    folder,
    ...sources,
    join(SUPPORT, 'NativeRows.java'),
    join(WRITERS, 'WriteRows.java'),
  ];
  execFileSync('javac', compile, { stdio: 'inherit' });
  return ['java', ['-cp', classPath, 'WriteRows']];
}

const PROGRAMS = { python: inPython(), java: inJava() };
if (PROGRAMS.python === undefined) console.log(`SKIPPED: the writer in Python needs ${PYTHON_NEEDED}`);
if (PROGRAMS.java === undefined) console.log('SKIPPED: the writer in Java needs Maven, and Maven Central');
const found = Object.entries(PROGRAMS).filter(([, program]) => program !== undefined) as [string, Program][];

const { configs, vectors } = shardedRowVectors();
const isByKey = ({ partitionKey, strategy }: (typeof configs)[string]) =>
  partitionKey.length > 0 && strategy === 'calculated';

const cassandra = cassandraForTests('written');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

(found.length > 0 ? test : test.skip).each(found)(
  'what the writer in %s writes is found by its key, in the shard of the vectors',
  async (language, [command, programArguments, environment]) => {
    const { client, port } = cassandra;
    const tables = Object.entries(configs)
      .filter(([, config]) => isByKey(config))
      .map(([name, config], number) => {
        const own = { ...config, columns: [], keyspaceName: 'written', tableName: `${language}_${number}` };
        return { config: own, rows: vectors.filter((vector) => vector.config === name) };
      });
    for (const { config } of tables) await client.execute(tableOf(config));
    const lines = tables.flatMap(({ config, rows }) => rows.map(({ row }) => `${JSON.stringify({ config, row })}\n`));
    const { status, stderr } = spawnSync(command, [...programArguments, String(port)], {
      input: lines.join(''),
      encoding: 'utf8',
      env: { ...process.env, ...environment },
    });
    expect({ status, printed: status === 0 ? '' : stderr }).toEqual({ status: 0, printed: '' });

    for (const { config, rows } of tables) {
      for (const { row, columns } of rows) {
        const read = await selectRow(client, config, givenRow(config, row));
        expect({ config, row, shard: read?.[config.shardColumn] }).toEqual({ config, row, ...columns });
      }
      expect((await findStrayRows(client, config)).strays).toBe(0);
    }
  },
  300_000,
);
