import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LocalFunction } from '../../../../../bin/local/assembly/planned-function';
import { importProblems } from '../../../../../bin/local/functions/import-problems';

const folder = mkdtempSync(join(tmpdir(), 'import-problems-'));
const packages = join(folder, 'app/node_modules');
mkdirSync(join(packages, '@aws-sdk/client-dynamodb'), { recursive: true });

let count = 0;
function problemsOf(files: Record<string, string>, runtime: string): string[] {
  const codeDirectory = join(folder, String(count++));
  for (const [file, code] of Object.entries(files)) {
    mkdirSync(dirname(join(codeDirectory, file)), { recursive: true });
    writeFileSync(join(codeDirectory, file), code);
  }
  return importProblems(
    [
      {
        path: 'App/Fn',
        runtime,
        codeDirectory,
        layers: [],
        missingLayers: [],
      } as Partial<LocalFunction> as LocalFunction,
    ],
    [packages],
  );
}

const install = (count: string, names: string) => [
  `functions import ${count} of Lambda's runtime that the app lacks: npm install --save-dev ${names}`,
];

test.each<[string, Record<string, string>, string[], string?]>([
  [
    'a require',
    { 'index.js': 'const a = require("@aws-sdk/client-sns");' },
    install('1 package', '@aws-sdk/client-sns'),
  ],
  [
    'minified imports of several files',
    {
      'index.mjs': 'import{a}from"@smithy/core";import"@aws-sdk/client-s3/commands";',
      'part/two.cjs': "var a=1,b=require('@aws-sdk/client-s3'),c=require('@aws-sdk/client-sqs')",
    },
    install('3 packages', '@aws-sdk/client-s3 @aws-sdk/client-sqs @smithy/core'),
  ],
  ['an installed package', { 'index.js': 'require("@aws-sdk/client-dynamodb")' }, []],
  [
    'a package in the code of the function',
    { 'index.js': 'require("@aws-sdk/a")', 'node_modules/@aws-sdk/a/index.js': 'require("@aws-sdk/b")' },
    [],
  ],
  ['a comment', { 'index.js': '// require("@aws-sdk/a")\n/* from "@aws-sdk/b"\n * import "@aws-sdk/c" */' }, []],
  ['a text', { 'index.js': 'throw new Error("install @aws-sdk/client-sns")' }, []],
  ['a text of the SDK', { 'index.js': '`call [require("@aws-sdk/a");] or [import "@aws-sdk/b";]`' }, []],
  [
    'imports of the SDK that run only on demand',
    { 'index.js': 'const a = () => import("@aws-sdk/a"); const b = () => __toESM(require("@aws-sdk/b"));' },
    [],
  ],
  [
    'version 2 of the SDK on nodejs16.x',
    { 'index.js': 'require("aws-sdk/clients/sqs")' },
    install('1 package', 'aws-sdk'),
    'nodejs16.x',
  ],
  [
    'version 2 of the SDK on nodejs18.x',
    { 'index.js': 'require("aws-sdk")' },
    ["App/Fn imports aws-sdk, but Lambda's nodejs18.x does not include aws-sdk: bundle it"],
    'nodejs18.x',
  ],
  [
    'version 3 of the SDK on nodejs16.x, although the app has the package',
    { 'index.js': 'require("@aws-sdk/client-dynamodb")' },
    [
      "App/Fn imports @aws-sdk/client-dynamodb, but Lambda's nodejs16.x does not include @aws-sdk/client-dynamodb: bundle it",
    ],
    'nodejs16.x',
  ],
])('importProblems finds what the app or the runtime lacks for %s', (_, files, expected, runtime = 'nodejs22.x') => {
  expect(problemsOf(files, runtime)).toEqual(expected);
});
