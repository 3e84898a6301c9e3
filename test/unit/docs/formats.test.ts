import { ONCE_POSTGRES_TABLE } from '../../../lib/core/consumer/once';
import { highestVersion } from '../../../lib/core/kernel/format-version';
import { OUTBOX_SCHEMA_VERSION } from '../../../lib/core/outbox/outbox-schema';
import { columnsOf, outboxMigrationFiles } from '../../support/formats/outbox-columns';
import { FormatRegister } from '../../support/formats/register';
import { SourceProgram } from '../../support/formats/source-program';
import {
  argumentsOf,
  attributes,
  constants,
  exitCodes,
  type StoredName,
  sealedTexts,
  storedFormats,
  texts,
} from '../../support/formats/stored-names';

/**
 * Compares docs/formats.md with the sources: each name that the library stores or sends is in the register, and each name of
 * the register is in a source.
 */

const METRICS = 'lib/core/contract/function-metrics.ts';
const PREFIX = 'EVEN_SHARDS_';

const register = new FormatRegister();
const program = new SourceProgram();

/** The names in the sources, by the first words of the rows that contain these names. */
const IN_SOURCES: Record<string, StoredName[]> = {
  'sealed texts': [...sealedTexts(program)],
  'parking table': [...attributes(program, 'lib/core/consumer/')],
  'registry table': [...attributes(program, 'lib/core/registry/')],
  'count table': [...attributes(program, 'lib/core/adaptive-counts/'), ...attributes(program, 'lambda/')],
  'keeper table': [...attributes(program, 'lib/core/sharded-index/keeper/dynamodb-keeper-store')],
  tags: [
    ...argumentsOf(program, 'writeTag', 2),
    ...texts(program, /^even-shards\/[a-z-]+$/),
    ...constants(program, 'lib/core/stream-format/record-sequence.ts', /^SEQUENCE_TAG$/),
  ],
  'metadata keys': [...argumentsOf(program, 'addMetadata', 0), ...texts(program, /^EvenShards::/)],
  [`\`${PREFIX}…\``]: [...texts(program, /^EVEN_SHARDS_[A-Z]/)].map(({ name, path }) => ({
    name: name.slice(PREFIX.length),
    path,
  })),
  metrics: [
    ...constants(program, METRICS, /_METRICS$/),
    ...argumentsOf(program, 'addMetric', 0),
    ...argumentsOf(program, 'publishCounts', 1),
  ],
  'namespace, dimensions': [...constants(program, METRICS, /_DIMENSION$|_NAMESPACE$/)],
  'exit codes': [...exitCodes(program)],
};
for (const { sql, path } of outboxMigrationFiles()) {
  for (const [table, columns] of columnsOf(sql, path)) {
    IN_SOURCES[`outbox \`${table}\``] = [...(IN_SOURCES[`outbox \`${table}\``] ?? []), ...columns];
  }
}
for (const [table, columns] of columnsOf(ONCE_POSTGRES_TABLE, 'lib/core/consumer/once.ts')) {
  IN_SOURCES[`table \`${table}\``] = columns;
}

const listed = [...register.names()];
const namesIn = (row: string) => listed.flatMap(([label, names]) => (label.startsWith(row) ? names : []));

describe('docs/formats.md', () => {
  test.each(Object.entries(IN_SOURCES))('lists exactly the names in the sources in the row: %s', (row, found) => {
    expect(found.length).toBeGreaterThan(0);
    const names = new Set(namesIn(row));
    const missing = found.filter(({ name }) => !names.has(name));
    const inSources = new Set(found.map(({ name }) => name));
    expect([
      ...new Set(missing.map(({ name, path }) => `add \`${name}\` of ${path} to the row "${row}" of docs/formats.md`)),
      ...[...names]
        .filter((name) => !inSources.has(name))
        .map((name) => `no source has \`${name}\` of the row "${row}"`),
    ]).toEqual([]);
  });

  test('has no row of names that this test does not compare', () => {
    const rows = Object.keys(IN_SOURCES);
    expect(listed.map(([label]) => label).filter((label) => !rows.some((row) => label.startsWith(row)))).toEqual([]);
  });

  test('lists the highest version of each format that the library reads', () => {
    const highest = [...storedFormats(program)].map((format) => [format, highestVersion(format)]);
    expect(Object.fromEntries(register.highestVersions())).toEqual(Object.fromEntries(highest));
  });

  test('describes each format that has a version', () => {
    const described = register.formats();
    expect([...register.highestVersions().keys()].filter((format) => !described.includes(format))).toEqual([]);
  });

  test('lists the version of the latest migration as the version of the outbox schema', () => {
    const latest = outboxMigrationFiles().at(-1)!.version;
    expect(register.highestVersions().get('outbox schema')).toBe(latest);
    expect(OUTBOX_SCHEMA_VERSION).toBe(latest);
  });
});
