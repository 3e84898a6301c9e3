import { type Effect, type Finding, finding, type Location } from './finding';

/**
 * A property of a construct, with its deployed and its new value. `consequence` describes the effect of a change and
 * what to do instead.
 */
export interface Setting {
  readonly property: string;
  readonly deployed: unknown;
  readonly synthesized: unknown;
  readonly effect: Effect;
  readonly consequence: string;
}

/**
 * Finds each setting whose value differs from its deployed value. Each property has its own warning id, so that users
 * can acknowledge a single change.
 *
 * @param kind the construct class that has the properties
 * @param of the index or the table that has the settings
 */
export function changedSettings(location: Location, kind: string, of: string, settings: readonly Setting[]): Finding[] {
  return settings.flatMap(({ property, deployed, synthesized, effect, consequence }) => {
    if (!isKnown(deployed) || !isKnown(synthesized) || asText(deployed) === asText(synthesized)) return [];
    const id = `${kind}.changed${property.charAt(0).toUpperCase()}${property.slice(1)}`;
    const text = `${property} of ${of} would change from ${asText(deployed)} to ${asText(synthesized)}: ${consequence}`;
    return [finding(location, id, effect, effect === 'refused' ? 'revise' : 'prepare', text)];
  });
}

/** In a template, a token is an object. */
function isKnown(setting: unknown): boolean {
  return [setting].flat().every((part) => typeof part !== 'object');
}

function asText(setting: unknown): string {
  return setting === undefined ? 'none' : JSON.stringify(setting);
}
