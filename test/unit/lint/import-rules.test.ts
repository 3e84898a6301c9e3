import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(__dirname, '..', '..', '..');

/**
 * For each module, the imports that its files may have, and the imports that the lint rules reject. There is one example
 * for each kind of import.
 */
const MODULES: Record<string, { allowed: string[]; rejected: string[] }> = {
  'lib/core/file.ts': {
    allowed: ['./producer'],
    rejected: ['node:crypto', './kernel/errors', './producer/lane', 'aws-cdk-lib', '../construct/props'],
  },
  'lib/core/kernel/file.ts': {
    allowed: ['node:crypto', './errors'],
    rejected: ['aws-cdk-lib', '@aws-sdk/client-kinesis', 'crypto', '..', '../sharding/shard-count', '../producer'],
  },
  ...modules(['lib/core/stream-format/file.ts', 'lib/core/fan-out/file.ts', 'lib/core/aws-client/file.ts'], {
    allowed: ['node:crypto', './sibling', '../kernel/errors', '../sharding/shard-count'],
    rejected: ['aws-cdk-lib', '..', '../kernel', '../producer', '../producer/lane', '../../construct/props'],
  }),
  'lib/core/registry/file.ts': {
    allowed: ['node:crypto', './balanced-key', '../kernel/errors', '../stream-format/fence', '../producer'],
    rejected: [
      'aws-cdk-lib',
      '@aws-sdk/client-kinesis',
      '..',
      '../kernel',
      '../producer/lane',
      '../../construct/props',
      '../producer/../../construct/props',
      '../../../bin/local/run-local',
    ],
  },
  'lib/core/sharded-index/client/file.ts': {
    allowed: ['./signature', '../config/stored-place', '../../kernel/errors', '../../producer'],
    rejected: ['aws-cdk-lib', '../..', '../../kernel', '../../producer/lane', '../config/../../producer/lane'],
  },
  'lib/testing/file.ts': {
    allowed: ['./virtual-clock', '../core/registry', '../core/kernel/clock', '@aws-sdk/client-kinesis'],
    rejected: ['aws-cdk-lib', '../stream/uniform-stream', '../../test/support/fakes/fake-index', '../../bin/flags'],
  },
  ...modules(['lib/stream/file.ts', 'lib/table/file.ts', 'lib/function/file.ts', 'lib/planner/file.ts'], {
    allowed: [
      'aws-cdk-lib/aws-kinesis',
      'constructs',
      './sub/file',
      '../construct/props',
      '../core/kernel/errors',
      '../core/planning/plan-index',
      '../core/sharding/shard-count',
      '../core/sharded-index/config/sharded-index-config',
    ],
    rejected: [
      '../core',
      '../core/sharded-index/query/fan-out-query',
      '../core/producer/ordered-producer',
      '../table/../core/index',
      '../../package.json',
      '../../lambda/required-environment',
      '../../bin/app',
      '@aws-sdk/client-kinesis',
    ],
  }),
  'lib/table/sub/file.ts': {
    allowed: ['./sibling', '../index/sharded-index', '../../core/kernel/errors', '../../core/planning/plan-index'],
    rejected: ['../../core', '../../core/producer/ordered-producer', '../../testing', '../index/../../core/index'],
  },
  'lambda/function/file.ts': {
    allowed: [
      '@aws-sdk/client-kinesis',
      '@aws-lambda-powertools/logger',
      './sub/file',
      '../required-environment',
      '../../lib/core/sharded-index/query/fan-out-query',
    ],
    rejected: [
      'aws-cdk-lib',
      'aws-sdk',
      '../other-function/file',
      '../../lib',
      '../../lib/stream/uniform-stream',
      '../../lib/core/../construct/props',
      '../../bin/app',
    ],
  },
  'examples/example/file.ts': {
    allowed: ['aws-cdk-lib/aws-kinesis', '@aws-sdk/client-dynamodb', 'cdk-even-shards/core', './sibling'],
    rejected: ['cdk-even-shards/dist/lib', 'fast-check', '../other-example/file', '../../lib/core'],
  },
  'test/unit/core/file.ts': {
    allowed: ['../../../lib/core', '../../support/stacks/watched-stack', 'cdk-even-shards'],
    rejected: ['../../bench/outbox/workers', '../../models/fuzz/inputs', '../../conformance/file'],
  },
  'bin/file.ts': { allowed: ['aws-cdk-lib', '../lib/core', '../lambda/required-environment'], rejected: [] },
};

const RULES = ['lint/style/noRestrictedImports', 'lint/style/noCommonJs', 'lint/suspicious/noImportCycles'];

function modules<T>(files: string[], rule: T): Record<string, T> {
  return Object.fromEntries(files.map((file) => [file, rule]));
}

/**
 * The lines that violate an import rule, as "path: line". The files are in a temporary folder with a copy of the
 * configuration.
 */
function violations(files: Record<string, string[]>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'import-rules-'));
  try {
    for (const name of ['biome.json', '.gitignore']) cpSync(join(root, name), join(folder, name));
    for (const [path, lines] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), lines.join('\n'));
    }
    const biome = join(root, 'node_modules', '.bin', 'biome');
    const { stdout } = spawnSync(biome, ['lint', '--max-diagnostics=none', '--reporter=rdjson', '.'], {
      cwd: folder,
      encoding: 'utf8',
    });
    const { diagnostics } = JSON.parse(stdout) as {
      diagnostics: { code: { value: string }; location: { path: string; range: { start: { line: number } } } }[];
    };
    return diagnostics
      .filter(({ code }) => RULES.includes(code.value))
      .map(({ location: { path, range } }) => `${path}: ${files[path]![range.start.line - 1]}`);
  } finally {
  }
}

describe('import rules', () => {
  const importOf = (module: string) => `import '${module}';`;
  let found: string[];
  beforeAll(() => {
    found = violations(
      Object.fromEntries(
        Object.entries(MODULES).map(([file, { allowed, rejected }]) => [file, [...allowed, ...rejected].map(importOf)]),
      ),
    );
  });

  test.each(Object.entries(MODULES))('reject exactly the forbidden imports of %s', (file, { rejected }) => {
    expect(found.filter((violation) => violation.startsWith(`${file}: `)).sort()).toEqual(
      rejected.map((module) => `${file}: ${importOf(module)}`).sort(),
    );
  });

  test('apply to every syntax that can load a module', () => {
    const files = modules(
      [
        'lib/core/registry/file.ts',
        'lib/core/kernel/file.ts',
        'lib/file.ts',
        'lib/table/file.ts',
        'lambda/function/file.ts',
      ],
      [
        "import type { A } from 'fast-check';",
        "export * from 'fast-check';",
        "export const a = import('fast-check');",
        "import b = require('fast-check');",
        "export const c = require('fast-check');",
      ],
    );

    expect(violations(files).sort()).toEqual(
      Object.entries(files)
        .flatMap(([file, lines]) => lines.map((line) => `${file}: ${line}`))
        .sort(),
    );
  });

  test('reject circular imports, even of types only', () => {
    const files = {
      'lib/core/registry/one.ts': ["import type { Two } from './two';", 'export type One = Two;'],
      'lib/core/registry/two.ts': ["import type { One } from './one';", 'export type Two = One;'],
    };

    expect(violations(files).sort()).toEqual(Object.entries(files).map(([file, [line]]) => `${file}: ${line}`));
  });
});
