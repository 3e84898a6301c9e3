import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtimePackages } from '../../../../../bin/local/functions/runtime-packages';

let repository: string;

beforeEach(() => {
  repository = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-packages-')));
});

function install(...folders: string[]): void {
  for (const folder of folders) mkdirSync(join(repository, folder), { recursive: true });
}

/** The package folders that `runtimePackages` finds, relative to the repository. */
function found({ assembly = 'app/cdk.out', workingDirectory = 'app' } = {}): string[] {
  return runtimePackages(join(repository, assembly), join(repository, workingDirectory))
    .filter((folder) => folder.startsWith(repository))
    .map((folder) => folder.slice(repository.length + 1));
}

test('runtimePackages finds the packages of the app, of its subfolders and of its parent folders', () => {
  install(
    'node_modules/@smithy/core',
    'app/node_modules/@aws-sdk/client-s3',
    'app/lambdas/node_modules/@aws-sdk/client-s3',
  );
  writeFileSync(join(repository, 'app/cdk.json'), '{}');
  expect(found()).toEqual(['app/node_modules', 'app/lambdas/node_modules', 'node_modules']);
});

test('runtimePackages finds packages near the folder of the assembly and near the working directory', () => {
  install('app/node_modules/@aws-sdk/client-s3', 'elsewhere');
  writeFileSync(join(repository, 'app/cdk.json'), '{}');
  expect(found({ workingDirectory: 'elsewhere' })).toEqual(['app/node_modules']);
  expect(found({ assembly: 'elsewhere/out' })).toEqual(['app/node_modules']);
});

test('runtimePackages finds version 2 of the SDK, and packages in other folders of the git repository', () => {
  install('.git', 'infra', 'services/node_modules/aws-sdk');
  expect(found({ assembly: 'infra/cdk.out', workingDirectory: 'infra' })).toEqual(['services/node_modules']);
});

test('runtimePackages does not search a folder that is not an app', () => {
  install('app/lambdas/node_modules/@aws-sdk/client-s3');
  expect(found()).toEqual([]);
});

test('runtimePackages ignores nested packages, assemblies, hidden folders, and folders without the SDK', () => {
  install(
    'app/node_modules/esbuild/node_modules/@aws-sdk/client-s3',
    'app/cdk.out/asset.1/node_modules/@aws-sdk/client-s3',
    'app/.cache/node_modules/@aws-sdk/client-s3',
    'app/web/node_modules/react',
  );
  writeFileSync(join(repository, 'app/cdk.json'), '{}');
  expect(found()).toEqual([]);
});
