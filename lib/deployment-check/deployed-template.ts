import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type ReadTemplate, readTemplateText } from '../cloudformation/read-template';
import { InvalidArgumentError } from '../core/kernel/errors';

/** The possible paths of a stack's template in a folder. */
interface TemplateLocation {
  /**
   * The path of the template that synthesis writes, relative to the folder of the app. It includes the folder of the
   * stage.
   */
  readonly file: string;
  /**
   * The name of the stack. A downloaded template is in the file `<stackName>.template.json`. Absent if the name is a
   * token.
   */
  readonly stackName?: string;
}

/**
 * Returns the template of a stack from a folder of deployed templates, or undefined for a new stack. The folder is an
 * earlier `cdk.out`, or contains downloaded templates in files with the names of their stacks.
 *
 * @param field the name of the folder's option, for errors
 * @throws an error with the code `INVALID_ARGUMENT` if the file is not a template in JSON
 */
export function deployedTemplate(
  field: string,
  folder: string,
  { file, stackName }: TemplateLocation,
): ReadTemplate | undefined {
  const files = [file, basename(file), ...(stackName === undefined ? [] : [`${stackName}.template.json`])];
  const found = files.map((each) => join(folder, each)).find((each) => existsSync(each));
  if (found === undefined) return undefined;
  const read = readTemplateText(readFileSync(found, 'utf8'));
  if (read !== undefined) return read;
  throw new InvalidArgumentError(
    field,
    found,
    'a folder whose templates are JSON objects with resources by logical id',
  );
}

/** @throws an error with the code `INVALID_ARGUMENT` if there is no such folder */
export function checkDeployedFolder(field: string, folder: unknown): asserts folder is string {
  if (typeof folder === 'string' && existsSync(folder)) return;
  throw new InvalidArgumentError(field, folder, 'a folder with the deployed templates');
}
