import { readFileSync } from 'node:fs';
import { BORDERS, type Border, type Pair } from '../support/borders/borders';
import { allowed, circleIn, otherPlacesIn, synthesize } from '../support/borders/judge';
import { PAIRS } from '../support/borders/pairs';
import { nameOf, placeOf } from '../support/borders/table';

const GUIDE = readFileSync('docs/guides/borders.md', 'utf8');

const cells = PAIRS.flatMap((pair) =>
  BORDERS.map((border): [string, string, Border, Pair] => [pair.construct, pair.partner, border, pair]),
);

describe.each(cells)('%s with %s: %s', (_construct, _partner, border, pair) => {
  const synthesis = synthesize(pair, border);

  if (synthesis === undefined) return;

  if ('refusal' in synthesis) {
    test('fails with an error that lists the allowed values', () => {
      expect(synthesis.refusal).toMatch(/^\[INVALID_\w+\] .+ must be .+, got /);
    });
    return;
  }

  test('results in templates without circular references', () => {
    expect(synthesis.templates.flatMap(circleIn)).toEqual([]);
  });

  test('results in the same permissions as within one stack', () => {
    const withinStack = synthesize(pair, 'same stack') as typeof synthesis;
    const { actions, onAnything } = permissionsIn(synthesis);
    // The role and the policy of an imported partner are in another app, so the templates of this app do not contain
    // them.
    const expected = permissionsIn(withinStack);
    if (border.startsWith('imported')) expect(expected.actions).toEqual(expect.arrayContaining(actions));
    else expect(actions).toEqual(expected.actions);
    expect(expected.onAnything).toEqual(expect.arrayContaining(onAnything));
  });

  test('results in no reference to another account or Region in the stack of the construct', () => {
    if (border === 'replica') expect(synthesis.templates.flatMap(otherPlacesIn)).toEqual([]);
  });
});

type Templates = Exclude<NonNullable<ReturnType<typeof synthesize>>, { refusal: string }>;

function permissionsIn({ templates }: Templates): { actions: string[]; onAnything: string[] } {
  const statements = allowed(templates).filter(({ action }) => isOfTheLibrary(action));
  const named = (each: typeof statements) => [...new Set(each.map(({ action }) => action))].sort();
  return { actions: named(statements), onAnything: named(statements.filter(({ resource }) => resource === '"*"')) };
}

/** Leaves out the SSM actions, which CDK adds for references between Regions. */
function isOfTheLibrary(action: string): boolean {
  return !action.startsWith('ssm:');
}

test.each(PAIRS.map((pair) => [nameOf(pair), pair] as const))(
  'the guide to borders lists which combinations of %s work',
  (name, pair) => {
    const entry = GUIDE.split('\n').find((line) => line.includes(name));
    expect(entry).toContain(`- **A partner ${placeOf(pair)}**: `);
  },
);
