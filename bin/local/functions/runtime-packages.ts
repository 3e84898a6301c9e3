import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The number of a Node.js runtime: 22 for `nodejs22.x`. Without a number, the newest runtime. */
export function runtimeVersion(runtime = ''): number {
  return Number(/nodejs(\d+)/.exec(runtime)?.[1] ?? Number.POSITIVE_INFINITY);
}

/** A package of the SDK for JavaScript: version 2, or a package of version 3. */
export const SDK_PACKAGE = 'aws-sdk|@(?:aws-sdk|smithy)/[\\w.-]+';

/** The first version of Lambda's Node.js runtime with version 3 of the SDK. Earlier versions have version 2. */
const FIRST_WITH_VERSION_3 = 18;

/**
 * Whether Lambda's runtime includes a package of the SDK. The bundler of the CDK does not bundle such a package. Source:
 * the AWS Lambda developer guide, "Building Lambda functions with Node.js".
 */
export function isInRuntime(sdkPackage: string, runtime: string): boolean {
  return sdkPackage.startsWith('@') === runtimeVersion(runtime) >= FIRST_WITH_VERSION_3;
}

const SDK_FOLDERS = ['aws-sdk', '@aws-sdk', '@smithy'];

/** The maximum depth, below the app, of a folder with its own packages. */
const DEPTH = 3;

/**
 * The folders to search for packages of Lambda's runtime: the packages of the app, and of the other folders of its git
 * repository, such as a folder of functions.
 */
export function runtimePackages(assembly: string, workingDirectory = process.cwd()): string[] {
  const starts = new Set([dirname(resolve(assembly)), resolve(workingDirectory)]);
  const folders = new Set(
    [...starts].flatMap((start) => upwards(start).flatMap((folder) => [folder, ...partsOf(folder)])),
  );
  return [...folders]
    .map((folder) => join(folder, 'node_modules'))
    .filter((packages) => SDK_FOLDERS.some((name) => existsSync(join(packages, name))));
}

function upwards(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...upwards(parent)];
}

/**
 * The subfolders of a CDK app or of a git repository. Empty for any other folder, so that unrelated folders are not
 * searched.
 */
function partsOf(folder: string): string[] {
  return ['cdk.json', '.git'].some((name) => existsSync(join(folder, name))) ? downwards(folder, DEPTH) : [];
}

function downwards(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^\.|^(node_modules|cdk\.out)$/.test(entry.name))
    .flatMap(({ name }) => [join(folder, name), ...downwards(join(folder, name), depth - 1)]);
}
