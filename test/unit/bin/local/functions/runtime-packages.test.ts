import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtimePackages } from '../../../../../bin/local/functions/runtime-packages';

let repository: string;

beforeEach(() => {
  repository = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-packages-')));
});
afterEach(() => rmSync(repository, { recursive: true }));

function install(...folders: string[]): void {
  for (const folder of folders) mkdirSync(join(repository, folder), { recursive: true });
}

/** The folders of packages that a run in the app finds, from the repository on. */
function found({ assembly = 'app/cdk.out', workingDirectory = 'app' } = {}): string[] {
  return runtimePackages(join(repository, assembly), join(repository, workingDirectory))
    .filter((folder) => folder.startsWith(repository))
    .map((folder) => folder.slice(repository.length + 1));
}

test('are those of the app, of its parts, and of what it lies in', () => {
  install(
    'node_modules/@smithy/core',
    'app/node_modules/@aws-sdk/client-s3',
    'app/lambdas/node_modules/@aws-sdk/client-s3',
  );
  writeFileSync(join(repository, 'app/cdk.json'), '{}');
  expect(found()).toEqual(['app/node_modules', 'app/lambdas/node_modules', 'node_modules']);
});

test('are found from elsewhere by the folder of the assembly, and by the working directory', () => {
  install('app/node_modules/@aws-sdk/client-s3', 'elsewhere');
  writeFileSync(join(repository, 'app/cdk.json'), '{}');
  expect(found({ workingDirectory: 'elsewhere' })).toEqual(['app/node_modules']);
  expect(found({ assembly: 'elsewhere/out' })).toEqual(['app/node_modules']);
});

test('are not looked for in what is no app: it may be a whole disk', () => {
  install('app/lambdas/node_modules/@aws-sdk/client-s3');
  expect(found()).toEqual([]);
});

test('packages of no function are left out: of packages, of assemblies, of hidden folders, and without the SDK', () => {
  install(
    'app/node_modules/esbuild/node_modules/@aws-sdk/client-s3',
    'app/cdk.out/asset.1/node_modules/@aws-sdk/client-s3',
    'app/.cache/node_modules/@aws-sdk/client-s3',
    'app/web/node_modules/react',
  );
  writeFileSync(join(repository, 'app/cdk.json'), '{}');
  expect(found()).toEqual([]);
});
