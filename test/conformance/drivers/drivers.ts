import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { fetchedFolder, jarsOf, PYTHON_NEEDED, pythonWith, succeeds } from '../../support/fetched';
import type { Parameter } from './cells';

interface Statement {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** The error of a statement. The code is the SQLSTATE, or `client` if the driver has sent nothing. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** A Postgres driver with the modes that programs use. */
export interface Driver {
  readonly name: string;
  /** The tools that are missing to fetch or run the driver. */
  readonly missing?: string;
  readonly modes: readonly string[];
  /** Executes each statement in its own transaction. */
  execute(url: string, mode: string, statements: readonly Statement[]): Promise<(Failure | null)[]>;
}

const SOURCES = resolve(__dirname);

const NATIVE: Record<Parameter['kind'], (text: string) => unknown> = {
  text: String,
  uuid: String,
  decimal: String,
  int: Number,
  bigint: BigInt,
  bytes: (text) => Buffer.from(text, 'base64'),
  json: (text) => JSON.parse(text),
  jsonb: (text) => JSON.parse(text),
};

const native = ({ kind, value }: Parameter): unknown => {
  const ofOne = (each: string | null) => (each === null ? null : NATIVE[kind](each));
  return Array.isArray(value) ? value.map(ofOne) : ofOne(value as string | null);
};

/** This driver sends no types. */
export function nodePostgres(): Driver {
  const modes = ['node-postgres', 'node-postgres, prepared'];
  return {
    name: 'node-postgres',
    modes,
    async execute(url, mode, statements) {
      const client = new Client({ connectionString: url });
      await client.connect();
      const failures: (Failure | null)[] = [];
      const names = new Map<string, string>();
      for (const { sql, parameters } of statements) {
        if (!names.has(sql)) names.set(sql, `statement ${names.size}`);
        const name = mode === modes[1] ? names.get(sql) : undefined;
        const failure = await client.query({ name, text: sql, values: parameters.map(native) }).then(
          () => null,
          (error: Error & { code?: string }) => ({ code: error.code ?? 'client', message: error.message }),
        );
        failures.push(failure);
      }
      await client.end();
      return failures;
    },
  };
}

export function python(): Driver {
  const requirements = join(SOURCES, 'python/requirements.txt');
  const interpreter = pythonWith('drivers-python-3.3.9', ['-r', requirements], 'psycopg, psycopg2, sqlalchemy');
  return {
    name: 'psycopg and SQLAlchemy',
    missing: interpreter === undefined ? PYTHON_NEEDED : undefined,
    modes: [
      'psycopg',
      'psycopg, prepared',
      'psycopg, binary',
      'psycopg, ClientCursor',
      'psycopg2',
      'SQLAlchemy on psycopg',
      'SQLAlchemy on psycopg2',
    ],
    execute: async (url, mode, statements) =>
      run([interpreter!, join(SOURCES, 'python/execute.py')], url, mode, statements),
  };
}

export function jdbc(): Driver {
  const jars = jarsOf('drivers-jdbc-42.7.14', join(SOURCES, 'jdbc/pom.xml'));
  const isFound = jars !== undefined && succeeds('javac', '--version');
  return {
    name: 'JDBC',
    missing: isFound ? undefined : 'Maven, Maven Central, and a JDK of version 17 or newer',
    modes: [
      'JDBC',
      'JDBC?prepareThreshold=0',
      'JDBC?prepareThreshold=1',
      'JDBC?prepareThreshold=-1',
      'JDBC?stringtype=unspecified',
      'JDBC?preferQueryMode=simple',
    ],
    execute: async (url, mode, statements) => {
      const { host, pathname, username, password } = new URL(url);
      const command = ['java', '-cp', join(jars!, '*'), join(SOURCES, 'jdbc/Execute.java'), username, password];
      return run(command, `jdbc:postgresql://${host}${pathname}`, mode, statements);
    },
  };
}

export function pgx(): Driver {
  const program = fetchedFolder('drivers-go-5.13.0', (folder) => {
    cpSync(join(SOURCES, 'go'), folder, { recursive: true });
    return succeeds('go', '-C', folder, 'build', '-mod=mod', '-o', 'execute', '.');
  });
  return {
    name: 'pgx',
    missing: program === undefined ? 'Go, and github.com/jackc/pgx from its module proxy' : undefined,
    modes: [
      'pgx, cache_statement',
      'pgx, cache_describe',
      'pgx, describe_exec',
      'pgx, exec',
      'pgx, simple_protocol',
      'database/sql with pgx',
    ],
    execute: async (url, mode, statements) => run([join(program!, 'execute')], url, mode, statements),
  };
}

function run(
  [program, ...programArguments]: string[],
  url: string,
  mode: string,
  statements: readonly Statement[],
): (Failure | null)[] {
  const { stdout, stderr, status } = spawnSync(program!, programArguments, {
    input: JSON.stringify({ url, mode, statements: statements.map(({ sql, parameters }) => ({ sql, parameters })) }),
    encoding: 'utf8',
    maxBuffer: 100 * 2 ** 20,
  });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr.slice(0, 2_000)}`);
  return JSON.parse(stdout);
}
