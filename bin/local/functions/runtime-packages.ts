import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * The scopes of packages that are part of Lambda's runtime for Node.js, so the bundler of the CDK leaves them out. Source:
 * the AWS Lambda developer guide, "Building Lambda functions with Node.js".
 */
export const RUNTIME_SCOPES = ['@aws-sdk', '@smithy'];

/** How deep in an app a folder of functions with packages of their own may be. */
const DEPTH = 3;

/**
 * Where to find the packages of Lambda's runtime: among the packages of the app, and of those parts of it that have
 * packages of their own, such as its folder of functions.
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

/** The folders of a CDK app. Empty for a folder that is not an app, because that may be anything. */
function partsOf(folder: string): string[] {
  return existsSync(join(folder, 'cdk.json')) ? downwards(folder, DEPTH) : [];
}

function downwards(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^\.|^(node_modules|cdk\.out)$/.test(entry.name))
    .flatMap(({ name }) => [join(folder, name), ...downwards(join(folder, name), depth - 1)]);
}
