import { App, NestedStack, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** The account and the Region of the tested construct. */
export const HOME = { account: '111111111111', region: 'eu-west-1' };
const FAR = { ...HOME, region: 'us-east-1' };
const FOREIGN = { ...HOME, account: '222222222222' };

/** How a test creates or imports the partner of a construct, for example the table of a consumer. */
export interface Partner<P> {
  /** Creates the partner in this app. */
  make(scope: Construct): P;
  /**
   * Imports the partner from an account and a Region. Returns undefined if an imported partner always has the
   * environment of the stack.
   */
  import?(scope: Construct, env: { account: string; region: string }): P | undefined;
  /** Returns the replica of a created partner in another Region. */
  onReplica?(partner: P, region: string): P;
}

/** A construct of the library and its partner: a resource of the user, or another construct of the library. */
export interface Pair {
  readonly construct: string;
  readonly partner: string;
  /**
   * Creates an app in which the construct and the partner are on different sides of this border, for example in different Regions.
   * Returns undefined if the border is impossible for the pair.
   */
  readonly across: (border: Border) => App | undefined;
}

export const BORDERS = [
  'same stack',
  'other stack',
  'partner in a nested stack',
  'construct in a nested stack',
  'other Region',
  'replica',
  'other account',
  'imported',
  'imported across Regions',
  'imported across accounts',
] as const;
export type Border = (typeof BORDERS)[number];

/**
 * Returns a pair that can create an app for each border between the construct and the partner.
 *
 * @param use creates the construct in the scope with the partner
 */
export function pair<P>(
  construct: string,
  partner: string,
  { make, import: existing, onReplica }: Partner<P>,
  use: (scope: Construct, partner: P) => void,
): Pair {
  return {
    construct,
    partner,
    across: (border) => {
      const app = new App({
        context: { 'aws:cdk:disable-asset-staging': true, 'aws:cdk:enable-path-metadata': false },
        analyticsReporting: false,
      });
      const home = () => new Stack(app, 'Home', { env: HOME, crossRegionReferences: true });
      const other = (env: object) => new Stack(app, 'Other', { env, crossRegionReferences: true });
      switch (border) {
        case 'same stack': {
          const stack = home();
          use(stack, make(stack));
          return app;
        }
        case 'other stack': {
          const made = make(other(HOME));
          use(home(), made);
          return app;
        }
        case 'partner in a nested stack': {
          const stack = home();
          use(stack, make(new NestedStack(stack, 'Nested')));
          return app;
        }
        case 'construct in a nested stack': {
          const stack = home();
          const made = make(stack);
          use(new NestedStack(stack, 'Nested'), made);
          return app;
        }
        case 'other Region': {
          const made = make(other(FAR));
          use(home(), made);
          return app;
        }
        case 'replica': {
          if (onReplica === undefined) return undefined;
          const made = onReplica(make(other(FAR)), HOME.region);
          use(home(), made);
          return app;
        }
        case 'other account': {
          const made = make(other(FOREIGN));
          use(home(), made);
          return app;
        }
        case 'imported':
        case 'imported across Regions':
        case 'imported across accounts': {
          if (existing === undefined) return undefined;
          const env = { imported: HOME, 'imported across Regions': FAR, 'imported across accounts': FOREIGN }[border];
          const stack = home();
          const known = existing(stack, env);
          if (known === undefined) return undefined;
          use(stack, known);
          return app;
        }
      }
    },
  };
}
