import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(__dirname, '..', '..', '..');

/** What a file of each room may import, and what it may not. */
const ROOMS: Record<string, { allowed: string[]; refused: string[] }> = {
  'lib/core/file.ts': {
    allowed: ['./producer'],
    refused: ['node:crypto', './kernel/errors', './producer/lane', 'aws-cdk-lib', '../index', '../construct/props'],
  },
  'lib/core/kernel/file.ts': {
    allowed: ['node:crypto', './errors'],
    refused: [
      'aws-cdk-lib',
      'constructs',
      '@aws-sdk/client-kinesis',
      'crypto',
      '..',
      '../sharding/shard-count',
      '../producer',
      '../producer/lane',
    ],
  },
  ...rooms(
    [
      'lib/core/stream-format/file.ts',
      'lib/core/fan-out/file.ts',
      'lib/core/aws-client/file.ts',
      'lib/core/contract/file.ts',
    ],
    {
      allowed: ['node:crypto', './sibling', '../kernel/errors', '../sharding/shard-count'],
      refused: [
        'aws-cdk-lib',
        '..',
        '../kernel',
        '../../index',
        '../producer',
        '../producer/lane',
        '../sharded-index/query/cursor',
        './../../construct/props',
        '../../construct/props',
      ],
    },
  ),
  'lib/core/registry/file.ts': {
    allowed: [
      'node:crypto',
      'node:timers/promises',
      './balanced-key',
      '../kernel/errors',
      '../stream-format/fence',
      '../producer',
    ],
    refused: [
      'aws-cdk-lib',
      'constructs',
      '@aws-sdk/client-kinesis',
      'crypto',
      '..',
      '../index',
      '../kernel',
      '../producer/lane',
      '../producer/index',
      '../../index',
      '../../construct/props',
      '../../function/bundled-function',
      '../../table/index/key-layout',
      '../../../bin/local/run-local',
      '../producer/../../construct/props',
    ],
  },
  'lib/core/sharded-index/client/file.ts': {
    allowed: [
      'node:crypto',
      './signature',
      '../config/attribute-of',
      '../shared',
      '../../kernel/errors',
      '../../producer',
    ],
    refused: [
      'aws-cdk-lib',
      '../..',
      '../../..',
      '../../index',
      '../../kernel',
      '../../producer/lane',
      '../../producer/index',
      '../config/../../producer/lane',
      '../../../construct/props',
      '../../../index',
    ],
  },
  'lib/testing/file.ts': {
    allowed: ['node:crypto', './virtual-clock', '../core/registry', '../core/kernel/clock', '@aws-sdk/client-kinesis'],
    refused: [
      'aws-cdk-lib',
      'fast-check',
      '../stream/uniform-stream',
      '../../test/support/fakes/fake-index',
      '../../bin/flags',
    ],
  },
  'lib/file.ts': {
    allowed: [
      'node:fs',
      'aws-cdk-lib',
      'aws-cdk-lib/aws-kinesis',
      'constructs',
      './construct/props',
      './table/index/key-layout',
      './core/kernel/errors',
      './core/contract/function-environment',
      './core/planning/plan-index',
      './core/planning/plan-stream',
      './core/producer/producer-record',
      './core/sharding/shard-count',
      './core/sharding/shard-numbering',
      './core/sharded-index/config/sharded-index-config',
    ],
    refused: [
      './core',
      './core/index',
      './core/sharded-index/query/fan-out-query',
      './core/planning/overload-probability',
      './core/sharded-index/write/shard-attributes',
      './table/../core/index',
      '../lambda/required-environment',
      '../bin/local/run-local',
      '@aws-sdk/client-kinesis',
      'aws-lambda',
      'fast-check',
    ],
  },
  ...rooms(['lib/stream/file.ts', 'lib/table/file.ts', 'lib/function/file.ts', 'lib/planner/file.ts'], {
    allowed: [
      'node:fs',
      'aws-cdk-lib',
      'aws-cdk-lib/aws-kinesis',
      'constructs',
      './sibling',
      './sub/file',
      '../construct/props',
      '../function/bundled-function',
      '../table/index/key-layout',
      '../core/kernel/errors',
      '../core/contract/function-environment',
      '../core/planning/plan-index',
      '../core/planning/plan-stream',
      '../core/producer/producer-record',
      '../core/registry/registry-table',
      '../core/sharding/shard-count',
      '../core/sharding/shard-numbering',
      '../core/sharded-index/config/sharded-index-config',
    ],
    refused: [
      '../core',
      '../core/index',
      '../core/sharded-index/query/fan-out-query',
      '../core/planning/overload-probability',
      '../core/producer/ordered-producer',
      '../core/sharded-index/write/shard-attributes',
      '../table/../core/index',
      '../..',
      '../../package.json',
      '../../lambda/required-environment',
      '../../bin/local/run-local',
      '../../bin/app',
      '@aws-sdk/client-kinesis',
      'aws-lambda',
      'fast-check',
    ],
  }),
  'lib/table/sub/file.ts': {
    allowed: [
      'aws-cdk-lib',
      './sibling',
      '../sharded-table',
      '../index/sharded-index',
      '../../construct/props',
      '../../core/kernel/errors',
      '../../core/planning/plan-index',
      '../../core/sharded-index/change/plan-index-reshard',
      '../../core/sharded-index/config/sharded-index-config',
    ],
    refused: [
      '../../core',
      '../../core/index',
      '../../core/sharded-index/query/fan-out-query',
      '../../core/planning/overload-probability',
      '../../core/producer/ordered-producer',
      '../../testing',
      '../index/../../core/index',
      '../../stream/../core/index',
      '../../..',
      '../../../package.json',
      '../../../lambda/required-environment',
      '../../../bin/local/run-local',
      '@aws-sdk/client-kinesis',
      'fast-check',
    ],
  },
  'lambda/file.ts': {
    allowed: [
      'node:crypto',
      '@aws-sdk/client-kinesis',
      './sibling',
      '../lib/core/errors',
      '../lib/core/fan-out/cursor',
    ],
    refused: [
      'aws-cdk-lib',
      'constructs',
      './producer/deliver',
      '../lib',
      '../lib/construct/props',
      '../bin/local/emulators/clients',
    ],
  },
  'lambda/function/file.ts': {
    allowed: [
      'node:crypto',
      '@aws-sdk/client-kinesis',
      '@smithy/node-http-handler',
      '@aws-lambda-powertools/logger',
      'aws-lambda',
      './sibling',
      './sub/file',
      '../required-environment',
      '../../lib/core/errors',
      '../../lib/core/sharded-index/query/fan-out-query',
    ],
    refused: [
      'aws-cdk-lib',
      'aws-sdk',
      'constructs',
      'fast-check',
      '../other-function/file',
      '../../lib',
      '../../lib/index',
      '../../lib/construct/props',
      '../../lib/function/bundled-function',
      '../../lib/keyspaces/file',
      '../../lib/monitoring/file',
      '../../lib/stream/uniform-stream',
      '../../lib/table/index/key-layout',
      '../../lib/core/../construct/props',
      '../../bin/local/emulators/clients',
      '../../bin/app',
    ],
  },
  'examples/example/file.ts': {
    allowed: [
      'node:path',
      'aws-cdk-lib',
      'aws-cdk-lib/aws-kinesis',
      'constructs',
      '@aws-sdk/client-dynamodb',
      'aws-lambda',
      'cdk-even-shards',
      'cdk-even-shards/core',
      './sibling',
    ],
    refused: [
      'cdk-even-shards/dist/lib',
      'fast-check',
      '../other-example/file',
      '../../lib',
      '../../lib/core',
      '../../lambda/required-environment',
      '../../bin/local/emulators/clients',
      './sub/../../other-example/file',
    ],
  },
  'test/unit/core/file.ts': {
    allowed: [
      '../../../lib/core',
      '../../support/stacks/watched-stack',
      '../core/sibling',
      './sibling',
      'cdk-even-shards',
    ],
    refused: [
      '../../bench/outbox/writers',
      '../../models/fuzz/inputs',
      '../../integration/file',
      '../../conformance/file',
    ],
  },
  ...rooms(['bin/file.ts', 'test/support/file.ts'], {
    allowed: ['aws-cdk-lib', '@aws-sdk/client-kinesis', '../lib', '../lib/core', '../lambda/required-environment'],
    refused: [],
  }),
};

const RULES = ['lint/style/noRestrictedImports', 'lint/style/noCommonJs', 'lint/suspicious/noImportCycles'];

function rooms<T>(files: string[], rule: T): Record<string, T> {
  return Object.fromEntries(files.map((file) => [file, rule]));
}

/**
 * The lines of the files that break an import rule, as "path: line". The files are written to a folder with a copy of
 * the configuration: in the work tree they would be in everyone's way.
 */
function offences(files: Record<string, string[]>): string[] {
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
    rmSync(folder, { recursive: true });
  }
}

describe('import rules', () => {
  const importOf = (module: string) => `import '${module}';`;
  let found: string[];
  beforeAll(() => {
    found = offences(
      Object.fromEntries(
        Object.entries(ROOMS).map(([file, { allowed, refused }]) => [file, [...allowed, ...refused].map(importOf)]),
      ),
    );
  });

  test.each(Object.entries(ROOMS))('of %s', (file, { refused }) => {
    expect(found.filter((offence) => offence.startsWith(`${file}: `)).sort()).toEqual(
      refused.map((module) => `${file}: ${importOf(module)}`).sort(),
    );
  });

  test('hold for every way to load a module', () => {
    const files = rooms(
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

    expect(offences(files).sort()).toEqual(
      Object.entries(files)
        .flatMap(([file, lines]) => lines.map((line) => `${file}: ${line}`))
        .sort(),
    );
  });

  test('refuse a circle of imports, of types too', () => {
    const files = {
      'lib/core/registry/one.ts': ["import type { Two } from './two';", 'export type One = Two;'],
      'lib/core/registry/two.ts': ["import type { One } from './one';", 'export type Two = One;'],
    };

    expect(offences(files).sort()).toEqual(Object.entries(files).map(([file, [line]]) => `${file}: ${line}`));
  });
});
