import { Annotations, Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** A property of a construct, as it is deployed, as synthesis has it now, and what a change of it does and what to do instead. */
export type Setting = readonly [property: string, deployed: unknown, next: unknown, consequence: string];

/**
 * Warns of each setting that is another one than the deployed one. Whoever changes it on purpose acknowledges the warning, of which
 * each property has its own.
 *
 * @param kind the construct that has the properties
 * @param of what the settings are of: an index or a table
 */
export function warnOfChangedSettings(construct: IConstruct, kind: string, of: string, settings: Setting[]): void {
  for (const [property, deployed, next, consequence] of settings) {
    const now: unknown = Stack.of(construct).resolve(next);
    if (!isKnown(deployed) || !isKnown(now) || asText(deployed) === asText(now)) continue;
    Annotations.of(construct).addWarningV2(
      `cdk-even-shards:${kind}.changed${property.charAt(0).toUpperCase()}${property.slice(1)}`,
      `${property} of ${of} would go from ${asText(deployed)} to ${asText(now)}: ${consequence}`,
    );
  }
}

/** A token is an object in a template, and what it will be is not known. */
function isKnown(setting: unknown): boolean {
  return [setting].flat().every((part) => typeof part !== 'object');
}

function asText(setting: unknown): string {
  return setting === undefined ? 'none' : JSON.stringify(setting);
}
