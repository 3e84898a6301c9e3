import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { InvalidArgumentError } from '../core/kernel/errors';
import type { Template } from './template';

/** Where a stack's template can be in a folder. */
interface TemplatePlace {
  /** Where synthesis puts it, from the folder of the app: in a folder of its stage. */
  readonly file: string;
  /** The name of the stack, under which a template can be that was fetched. Absent: only the deployment knows it. */
  readonly stackName?: string;
}

/**
 * The template of a stack in a folder of those that were deployed: an earlier `cdk.out`, or what was fetched, each under the name
 * of its stack. Undefined for a stack that is new.
 *
 * @param field what named the folder
 * @throws an error with the code `INVALID_ARGUMENT` if the folder has no templates, or one that is not JSON
 */
export function deployedTemplate(
  field: string,
  folder: string,
  { file, stackName }: TemplatePlace,
): Template | undefined {
  const files = [file, basename(file), ...(stackName === undefined ? [] : [`${stackName}.template.json`])];
  const found = files.map((each) => join(folder, each)).find((each) => existsSync(each));
  if (found === undefined) return undefined;
  const template = parsed(readFileSync(found, 'utf8'));
  if (isTemplate(template)) return template;
  throw new InvalidArgumentError(
    field,
    found,
    'a folder whose templates are JSON, with resources by their logical ids',
  );
}

/** A template that was fetched can be JSON in a text of JSON. */
function parsed(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'string' ? JSON.parse(json) : json;
  } catch {
    return undefined;
  }
}

/** Whatever else it holds. */
function isTemplate(json: unknown): json is Template {
  const { Resources = {} } = Object(json) as { Resources?: unknown };
  return isObject(json) && isObject(Resources) && Object.values(Resources).every(isResource);
}

function isResource(resource: unknown): boolean {
  return typeof Object(resource).Type === 'string';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws an error with the code `INVALID_ARGUMENT` if there is no such folder */
export function checkDeployedFolder(field: string, folder: unknown): asserts folder is string {
  if (typeof folder === 'string' && existsSync(folder)) return;
  throw new InvalidArgumentError(field, folder, 'a folder with the templates that were deployed');
}
