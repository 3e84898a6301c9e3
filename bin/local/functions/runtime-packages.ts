import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * The npm scopes of packages in Lambda's runtime for Node.js. The bundler of the CDK does not bundle them. Source: the
 * AWS Lambda developer guide, "Building Lambda functions with Node.js".
 */
export const RUNTIME_SCOPES = ['@aws-sdk', '@smithy'];

/** The maximum depth, below the app, of a folder with its own packages. */
const DEPTH = 3;

/**
 * The folders to search for packages of Lambda's runtime: the packages of the app, and the packages of its subfolders,
 * such as a folder of functions.
 */
export function runtimePackages(assembly: string, workingDirectory = process.cwd()): string[] {
  const starts = new Set([dirname(resolve(assembly)), resolve(workingDirectory)]);
  const folders = new Set(
    [...starts].flatMap((start) => upwards(start).flatMap((folder) => [folder, ...partsOf(folder)])),
  );
  return [...folders]
    .map((folder) => join(folder, 'node_modules'))
    .filter((packages) => RUNTIME_SCOPES.some((scope) => existsSync(join(packages, scope))));
}

function upwards(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...upwards(parent)];
}

/**
 * The subfolders of a CDK app. Empty for a folder that is not a CDK app, so that unrelated folders are not searched.
 */
function partsOf(folder: string): string[] {
  return existsSync(join(folder, 'cdk.json')) ? downwards(folder, DEPTH) : [];
}

function downwards(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^\.|^(node_modules|cdk\.out)$/.test(entry.name))
    .flatMap(({ name }) => [join(folder, name), ...downwards(join(folder, name), depth - 1)]);
}
