import { availableParallelism } from 'node:os';
// Tests import the module that this writes.
import './scripts/sql-module.mjs';

/** Half as many again as processors: suites of real parts wait for them a third of their time. */
const maxWorkers = Math.ceil(1.5 * availableParallelism());

/** What each tier has. */
const EACH = {
  testEnvironment: '<rootDir>/test/support/storage-environment.ts',
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // A test runs in a context of its own, where each look at a global costs much: what computes got four times as slow.
  sandboxInjectedGlobals: ['Array', 'BigInt', 'JSON', 'Math', 'Number', 'Object', 'String'],
  setupFiles: ['<rootDir>/test/support/quiet-sdk.ts', '<rootDir>/test/support/no-creation-stacks.ts'],
  transform: { '\\.ts$': ['@swc/jest', { jsc: { target: 'es2023' } }] },
};

// biome-ignore lint/style/noDefaultExport: jest takes the default export
export default {
  maxWorkers,
  globalSetup: '<rootDir>/test/support/temporary-folder/create.ts',
  globalTeardown: '<rootDir>/test/support/temporary-folder/remove.ts',
  testTimeout: 30000,
  projects: [
    {
      displayName: 'unit',
      ...EACH,
      setupFiles: [...EACH.setupFiles, '<rootDir>/test/support/no-bundling.ts'],
      globalSetup: '<rootDir>/test/support/stand-in-package.ts',
      moduleNameMapper: {
        '^cdk-even-shards$': '<rootDir>/lib',
        '^cdk-even-shards/package\\.json$': '<rootDir>/node_modules/.cache/stand-in-package/package.json',
        '^cdk-even-shards/testing$': '<rootDir>/lib/testing',
        '^cdk-even-shards/core$': '<rootDir>/lib/core',
        '^cdk-even-shards/([a-z-]+)$': '<rootDir>/lib/core/$1',
      },
      testMatch: ['<rootDir>/test/unit/**/*.test.ts'],
      // The tools of these tests need a newer CDK than the library.
      testPathIgnorePatterns: [
        '/node_modules/',
        '/test/unit/validation/cloudformation',
        '/test/unit/validation/cdk-nag',
      ],
    },
    {
      displayName: 'integration',
      ...EACH,
      testMatch: ['<rootDir>/test/integration/**/*.test.ts'],
    },
    {
      displayName: 'models',
      ...EACH,
      testMatch: ['<rootDir>/test/models/**/*.test.ts'],
    },
    {
      displayName: 'newest CDK',
      ...EACH,
      testMatch: [
        '<rootDir>/test/unit/bin/app.test.ts',
        '<rootDir>/test/unit/bin/check/forms-of-reference.test.ts',
        '<rootDir>/test/unit/{stream,table,keyspaces,outbox,monitoring,validation}/**/*.test.ts',
      ],
      moduleNameMapper: {
        '^aws-cdk-lib$': 'aws-cdk-lib-newest',
        '^aws-cdk-lib/(.*)$': 'aws-cdk-lib-newest/$1',
        '^constructs$': 'constructs-newest',
        '^constructs/(.*)$': 'constructs-newest/$1',
      },
      setupFiles: [...EACH.setupFiles, '<rootDir>/test/support/no-bundling.ts', '<rootDir>/test/support/newest-cdk.ts'],
    },
  ],
};
