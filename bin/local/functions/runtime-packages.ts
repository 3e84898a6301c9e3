import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * The scopes of what Lambda's runtime for Node.js brings, and the bundler of the CDK therefore leaves out.
 * Source: the AWS Lambda developer guide, "Building Lambda functions with Node.js".
 */
export const RUNTIME_SCOPES = ['@aws-sdk', '@smithy'];

/** A folder of functions with packages of their own lies so deep in an app at most. */
const DEPTH = 3;

/**
 * Where what Lambda's runtime brings is found: in the packages of the app, and of the parts of it that have packages of their own,
 * such as its folder of functions.
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

/** The folders of a CDK app; of a folder that is none, which may be anything, none. */
function partsOf(folder: string): string[] {
  return existsSync(join(folder, 'cdk.json')) ? downwards(folder, DEPTH) : [];
}

function downwards(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^\.|^(node_modules|cdk\.out)$/.test(entry.name))
    .flatMap(({ name }) => [join(folder, name), ...downwards(join(folder, name), depth - 1)]);
}
