import fc from 'fast-check';
import { arnOf, generatedName, NAMED_TYPES } from '../../../../../bin/local/assembly/emulated-types';

const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{0,127}$/);

const GENERATED = Object.entries(NAMED_TYPES).filter(([, { longestName }]) => longestName !== undefined);

describe.each(GENERATED)('a generated name of %s', (_, type) => {
  test('is never longer than the service allows', () => {
    fc.assert(
      fc.property(name, name, (stack, logicalId) => {
        expect(generatedName(type, { id: stack, name: stack }, logicalId).length).toBeLessThanOrEqual(
          type.longestName!,
        );
      }),
    );
  });

  test('differs between two long logical ids that have the same first characters', () => {
    const long = 'L'.repeat(300);
    const stack = { id: 'Stack', name: 'Stack' };
    expect(generatedName(type, stack, `${long}1`)).not.toBe(generatedName(type, stack, `${long}2`));
  });

  test('differs between two stacks that have the same name', () => {
    const [first, second] = ['Alpha', 'Beta'].map((id) => generatedName(type, { id, name: 'Orders' }, 'Table'));
    expect(first).not.toBe(second);
  });
});

test('generated names and ARNs have the form of CloudFormation', () => {
  const type = NAMED_TYPES['AWS::Lambda::Function']!;
  expect(generatedName(type, { id: 'Orders', name: 'Orders' }, 'Writer1234')).toMatch(
    /^Orders-Writer1234-[0-9A-F]{12}$/,
  );
  expect(arnOf('AWS::Lambda::Function', 'writer')).toBe('arn:aws:lambda:us-east-1:000000000000:function:writer');
});
