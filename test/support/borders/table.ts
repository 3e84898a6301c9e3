import { BORDERS, type Border, type Pair } from './borders';
import { synthesize } from './judge';
import { PAIRS } from './pairs';

const OF_THIS_APP: readonly Border[] = [
  'same stack',
  'other stack',
  'partner in a nested stack',
  'construct in a nested stack',
];

/** The texts of the guide about where the partner can be. Each text belongs to one list of borders across which a pair works. */
const PLACES: readonly { readonly place: string; readonly works: readonly Border[] }[] = [
  { place: 'in the same account and Region, also imported', works: [...OF_THIS_APP, 'imported'] },
  {
    place: 'in the same account and Region, also imported, or a replica from `onReplica`',
    works: [...OF_THIS_APP, 'replica', 'imported'],
  },
  { place: 'of this app, in the same account and Region', works: OF_THIS_APP },
  { place: 'in the same stack, or in a stack nested in it', works: ['same stack', 'partner in a nested stack'] },
  {
    place: 'in any account and Region, also imported',
    works: [
      ...OF_THIS_APP,
      'other Region',
      'other account',
      'imported',
      'imported across Regions',
      'imported across accounts',
    ],
  },
];

/** The name of a pair in the guide: the construct, and the property or the method that takes the partner. */
export function nameOf({ construct, partner }: Pair): string {
  return `\`${construct}.${partner}\``;
}

/** The text of the guide for the places where the partner of this pair can be. */
export function placeOf(pair: Pair): string {
  const works = BORDERS.filter((border) => worksAcross(pair, border));
  const found = PLACES.find((each) => each.works.join() === works.join());
  if (found === undefined)
    throw new Error(`the guide has no place for ${nameOf(pair)}, which works: ${works.join(', ')}`);
  return found.place;
}

function worksAcross(pair: Pair, border: Border): boolean {
  const synthesis = synthesize(pair, border);
  return synthesis !== undefined && !('refusal' in synthesis);
}

/** The list in the guide. It has an entry for each place, with the pairs whose partner can be there. */
export function bordersList(): string {
  return PLACES.map(({ place }) => {
    const names = PAIRS.filter((pair) => placeOf(pair) === place).map(nameOf);
    return `- **A partner ${place}**: ${names.join(', ')}`;
  }).join('\n');
}
