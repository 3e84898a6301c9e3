import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { InvalidArgumentError } from '../../../lib/core/kernel/errors';
import { tokenCases } from '../../support/token-cases';

/** Each case passes a CloudFormation parameter as a number, a duration or a size in the props of a construct. */
describe('a number that is a token', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  const [works, rejected] = [false, true].map((isRefused) =>
    tokenCases.filter(({ refusal }) => (refusal !== undefined) === isRefused),
  );

  test.each(works!)('is accepted as $name, without a warning about shard counts', ({ give }) => {
    give(stack);

    // CDK encodes number tokens as numbers such as -1.88e+289. A template must not contain such a number.
    expect(JSON.stringify(Template.fromStack(stack))).not.toMatch(/e\+2\d\d/);
    Annotations.fromStack(stack).hasNoWarning('*', Match.stringLikeRegexp('too few shards|no shard count'));
  });

  test.each(rejected!)('is rejected as $name', ({ give, refusal }) => {
    expect(() => give(stack)).toThrow(refusal);
    expect(() => give(new Stack(new App(), 'Again'))).toThrow(InvalidArgumentError);
  });
});
