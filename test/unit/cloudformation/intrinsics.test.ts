// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders belong to Fn::Sub
import fc from 'fast-check';
import {
  conditionHolds,
  resolveIntrinsics,
  type Scope,
  UnresolvableIntrinsicError,
} from '../../../lib/cloudformation/intrinsics';

const SITE = { logicalId: 'Function', propertyPath: 'Environment' };

const VALUES: Record<string, unknown> = { Stream: 'stream-1', 'AWS::Region': 'us-east-1', Zones: ['a', 'b'] };
const CONDITIONS: Record<string, unknown> = {
  InUs: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] },
  InChina: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'cn-north-1'] },
  Somewhere: { 'Fn::Or': [{ Condition: 'InUs' }, { Condition: 'InChina' }] },
  Everywhere: { 'Fn::And': [{ Condition: 'InUs' }, { Condition: 'InChina' }] },
  NotInChina: { 'Fn::Not': [{ Condition: 'InChina' }] },
};

const SCOPE: Scope = {
  ref: (name) => (Object.hasOwn(VALUES, name) ? { value: VALUES[name] } : { reason: `there is no ${name}` }),
  attribute: (logicalId, attribute) =>
    attribute === 'Arn' ? { value: `arn:${logicalId}` } : { reason: `there is no ${attribute}` },
  condition: (name) =>
    Object.hasOwn(CONDITIONS, name) ? { value: CONDITIONS[name] } : { reason: `there is no condition ${name}` },
  mapped: (map, top, second) => ({ value: `${map}/${top}/${second}` }),
  imported: (name) => ({ value: `imported ${name}` }),
};

function resolve(value: unknown): unknown {
  return resolveIntrinsics(value, SCOPE, SITE);
}

describe('resolveIntrinsics', () => {
  test.each<[unknown, unknown]>([
    [{ Ref: 'Stream' }, 'stream-1'],
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [{ 'Fn::GetAtt': ['Stream', 'Arn'] }, 'arn:Stream'],
    [{ 'Fn::GetAtt': 'Stream.Arn' }, 'arn:Stream'],
    [{ 'Fn::Join': ['/', ['a', { Ref: 'Stream' }, 1]] }, 'a/stream-1/1'],
    [{ 'Fn::Join': ['+', { 'Fn::Split': ['-', 'a-b'] }] }, 'a+b'],
    [{ 'Fn::Split': ['-', { Ref: 'Stream' }] }, ['stream', '1']],
    [{ 'Fn::Select': ['1', { Ref: 'Zones' }] }, 'b'],
    [{ 'Fn::Select': [0, ['a', 'b']] }, 'a'],
    [{ 'Fn::Sub': 'arn:${AWS::Region}:${Stream}' }, 'arn:us-east-1:stream-1'],
    [{ 'Fn::Sub': '${Stream.Arn} of ${!Stream}' }, 'arn:Stream of ${Stream}'],
    [{ 'Fn::Sub': ['${Name} in ${AWS::Region}', { Name: { Ref: 'Stream' } }] }, 'stream-1 in us-east-1'],
    [{ 'Fn::If': ['InUs', 'yes', 'no'] }, 'yes'],
    [
      { 'Fn::If': ['InChina', { Ref: 'Unknown' }, 'only the chosen branch is looked at'] },
      'only the chosen branch is looked at',
    ],
    [{ 'Fn::FindInMap': ['Map', { Ref: 'AWS::Region' }, 'key'] }, 'Map/us-east-1/key'],
    [{ 'Fn::ImportValue': { 'Fn::Sub': '${Stream}-name' } }, 'imported stream-1-name'],
    [{ a: [{ b: { Ref: 'Stream' } }] }, { a: [{ b: 'stream-1' }] }],
  ])('resolves %j', (value, expected) => {
    expect(resolve(value)).toEqual(expected);
  });

  test('removes a property or a list element with the value AWS::NoValue', () => {
    const noValue = { Ref: 'AWS::NoValue' };
    expect(resolve({ gone: noValue, kept: [1, { 'Fn::If': ['InUs', noValue, 2] }, 3] })).toEqual({ kept: [1, 3] });
  });

  test('does not change an object with Ref and another key', () => {
    const value = { Ref: 'Stream', Type: 'String' };
    expect(resolve(value)).toEqual(value);
  });

  test.each<[unknown, string]>([
    [{ Ref: 'Unknown' }, 'there is no Unknown'],
    [{ 'Fn::GetAtt': ['Stream', 'StreamArn'] }, 'there is no StreamArn'],
    [{ 'Fn::Cidr': ['10.0.0.0/8', 4] }, 'Fn::Cidr is not supported locally'],
    [{ 'Fn::Select': [2, ['a', 'b']] }, 'the list has no element 2'],
    [{ 'Fn::Sub': '${Zones}' }, 'expected a string, got ["a","b"]'],
    [{ 'Fn::Join': 'no list' }, 'expected a list, got "no list"'],
    [{ 'Fn::If': ['Unknown', 1, 2] }, 'there is no condition Unknown'],
  ])('rejects %j with an error that names its place in the template', (intrinsic, reason) => {
    const value = { Variables: { NAMES: ['first', intrinsic] } };
    expect(() => resolve(value)).toThrow(
      new UnresolvableIntrinsicError(
        { logicalId: 'Function', propertyPath: 'Environment.Variables.NAMES[1]' },
        intrinsic,
        reason,
      ),
    );
  });

  test('does not change a value without intrinsic functions', () => {
    fc.assert(
      fc.property(plainJson(), (value) => {
        expect(resolve(value)).toEqual(value);
      }),
    );
  });
});

describe('conditionHolds', () => {
  test.each([
    ['InUs', true],
    ['InChina', false],
    ['Somewhere', true],
    ['Everywhere', false],
    ['NotInChina', true],
  ])('the condition %s is %s', (name, expected) => {
    expect(conditionHolds(name, SCOPE, SITE)).toBe(expected);
  });
});

/** Any JSON without a key of an intrinsic function. */
function plainJson(): fc.Arbitrary<unknown> {
  return fc.jsonValue().filter((value) => !/"(Ref|Fn::)/.test(JSON.stringify(value)));
}
