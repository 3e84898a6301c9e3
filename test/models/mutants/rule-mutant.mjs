import { readFileSync } from 'node:fs';
import { changesOf } from './changes.mjs';

/**
 * A mutant of a rule: the function and the kind of change that break the rule.
 *
 * @typedef {object} RuleMutant
 * @property {string} rule the sentence that the mutant breaks
 * @property {string} file the module
 * @property {string} function the function, or `Class.member`
 * @property {string} change the kind of change, a key of `CHANGES`
 * @property {string} of the name that the changed node calls, reads, writes or declares
 * @property {number} [nth] the number of the node, if several nodes match
 * @property {string} [name] the name that `use another name` and `forget the field` write
 */

/**
 * The text of the module with the mutant.
 *
 * @param {RuleMutant} mutant
 */
export function mutated(mutant) {
  const source = readFileSync(mutant.file, 'utf8');
  const { start, end, text } = placeOf(mutant, source);
  return source.slice(0, start) + text + source.slice(end);
}

/** The place of a mutant. Throws unless the function has exactly one matching place. */
function placeOf({ file, function: owner, change, of, nth, name }, source) {
  const ofFunction = changesOf(source, { kinds: [change], name }).filter((each) => each.function === owner);
  const places = ofFunction.filter((each) => each.of === of && (nth === undefined || each.nth === nth));
  if (places.length === 1) return places[0];
  const others = ofFunction.map((each) => `${each.of} ${each.nth}`).join(', ');
  throw new Error(
    `${file}: ${owner} has ${places.length} places for "${change}" of ${of}; it has: ${others || 'none'}`,
  );
}

/** The text of a mutant, such as "`planWave`: always true, `fits`". */
export function inWords({ function: owner, change, of, nth, name }) {
  const which = nth === undefined ? '' : ` (number ${nth})`;
  return `\`${owner}\`: ${change}, \`${of}\`${which}${name === undefined ? '' : ` → \`${name}\``}`;
}
