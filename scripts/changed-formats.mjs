/**
 * Lists the files of stored and sent formats whose code has changed since the last release. Changes of comments and types
 * do not count.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';

/** The files that write or read a format. Files that check the mark of a format are added. docs/formats.md lists the formats. */
const FORMAT_FILES = [
  'lambda/*/*-event.ts',
  'lambda/adaptive-shard-count-controller/reported-writes.ts',
  'lambda/outbox-relay/outbox-report.ts',
  'lib/core/adaptive-counts/shard-count-table.ts',
  'lib/core/adaptive-counts/write-reporter.ts',
  'lib/core/consumer/once.ts',
  'lib/core/consumer/parked-segment.ts',
  'lib/core/consumer/parking-table.ts',
  'lib/core/contract/*.ts',
  'lib/core/kernel/format-version.ts',
  'lib/core/kernel/sealed-text.ts',
  'lib/core/keyspaces/row-cursor.ts',
  'lib/core/keyspaces/shard-columns.ts',
  'lib/core/keyspaces/shard-segment.ts',
  'lib/core/keyspaces/stray-rows.ts',
  'lib/core/outbox/envelope.ts',
  'lib/core/outbox/sql/migrations/*.sql',
  'lib/core/producer/aggregate-builder.ts',
  'lib/core/registry/registry-contract.ts',
  'lib/core/registry/registry-head.ts',
  'lib/core/sharded-index/config/stored-place.ts',
  'lib/core/sharded-index/query/cursor.ts',
  'lib/core/sharded-index/query/resume-point.ts',
  'lib/core/sharded-index/strays/segment-point.ts',
  'lib/core/sharding/*.ts',
  'lib/core/stream-format/*.ts',
];

/** A file that checks the mark of a format imports this module. An index file only exports its error. */
const CHECKS_MARK = "^import .*/format-version'";

/** @param since the commit or the tag of the last release */
export async function changedFormats(since) {
  const files = [...lines('ls-files', ...FORMAT_FILES), ...lines('grep', '-l', CHECKS_MARK, '--', 'lib')];
  const changed = [];
  for (const file of new Set(files)) if (await isChanged(file, since)) changed.push(file);
  return changed;
}

async function isChanged(file, since) {
  const { status, stdout } = spawnSync('git', ['show', `${since}:${file}`], { encoding: 'utf8' });
  return status !== 0 || (await codeOf(file, stdout)) !== (await codeOf(file, readFileSync(file, 'utf8')));
}

async function codeOf(file, text) {
  if (!file.endsWith('.ts')) return text;
  return (await transform(text, { loader: 'ts', minifyWhitespace: true })).code;
}

function lines(...gitArguments) {
  return execFileSync('git', gitArguments, { encoding: 'utf8' }).split('\n').filter(Boolean);
}
