import { type Effect, type Finding, finding, type Location } from './finding';

/** A property of a construct, as it is deployed and as it comes, and what a change of it does and what to do instead. */
export interface Setting {
  readonly property: string;
  readonly deployed: unknown;
  readonly coming: unknown;
  readonly effect: Effect;
  readonly consequence: string;
}

/**
 * Finds each setting that is another one than the deployed one. Whoever changes it on purpose acknowledges the finding, of which
 * each property has its own.
 *
 * @param kind the construct that has the properties
 * @param of what the settings are of: an index or a table
 */
export function changedSettings(location: Location, kind: string, of: string, settings: readonly Setting[]): Finding[] {
  return settings.flatMap(({ property, deployed, coming, effect, consequence }) => {
    if (!isKnown(deployed) || !isKnown(coming) || asText(deployed) === asText(coming)) return [];
    const id = `${kind}.changed${property.charAt(0).toUpperCase()}${property.slice(1)}`;
    const text = `${property} of ${of} would go from ${asText(deployed)} to ${asText(coming)}: ${consequence}`;
    return [finding(location, id, effect, effect === 'refused' ? 'revise' : 'prepare', text)];
  });
}

/** What only a deployment knows is an object in a template. */
function isKnown(setting: unknown): boolean {
  return [setting].flat().every((part) => typeof part !== 'object');
}

function asText(setting: unknown): string {
  return setting === undefined ? 'none' : JSON.stringify(setting);
}
