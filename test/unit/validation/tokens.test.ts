import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { InvalidArgumentError } from '../../../lib/core/kernel/errors';
import { tokenCases } from '../../support/token-cases';

/** Every number, duration and size that the constructs take, given as a parameter of the template is. */
describe('a number that only the deployment knows', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  const [works, refused] = [false, true].map((isRefused) =>
    tokenCases.filter(({ refusal }) => (refusal !== undefined) === isRefused),
  );

  test.each(works!)('works, or silences the advice, as $name', ({ give }) => {
    give(stack);

    // A token that became a number would be an absurd one.
    expect(JSON.stringify(Template.fromStack(stack))).not.toMatch(/e\+2\d\d/);
    Annotations.fromStack(stack).hasNoWarning('*', Match.stringLikeRegexp('too few shards|no shard count'));
  });

  test.each(refused!)('is refused as $name', ({ give, refusal }) => {
    expect(() => give(stack)).toThrow(refusal);
    expect(() => give(new Stack(new App(), 'Again'))).toThrow(InvalidArgumentError);
  });
});
