// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders belong to Fn::Sub
import fc from 'fast-check';
import { resolve, resolveKnown, resolveSelected } from '../../../lib/cloudformation/intrinsics';
import { type StackTemplate, stackScopes } from '../../../lib/cloudformation/stack-scope';
import type { Template } from '../../../lib/cloudformation/template';

const TEMPLATE: Template = {
  Parameters: {
    Zones: { Type: 'CommaDelimitedList', Default: 'a, b' },
    Count: { Type: 'Number', Default: '4' },
    Stage: { Type: 'String' },
    Stored: { Type: 'AWS::SSM::Parameter::Value<String>', Default: '/stream' },
  },
  Mappings: { Map: { 'us-east-1': { key: 'mapped' } } },
  Conditions: {
    InUs: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] },
    InChina: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'cn-north-1'] },
    Somewhere: { 'Fn::Or': [{ Condition: 'InUs' }, { Condition: 'InChina' }] },
    Everywhere: { 'Fn::And': [{ Condition: 'InUs' }, { Condition: 'InChina' }] },
    NotInChina: { 'Fn::Not': [{ Condition: 'InChina' }] },
    InStage: { 'Fn::Equals': [{ Ref: 'Stage' }, 'beta'] },
    UsOrStage: { 'Fn::Or': [{ Condition: 'InStage' }, { Condition: 'InUs' }] },
    ChinaAndStage: { 'Fn::And': [{ Condition: 'InStage' }, { Condition: 'InChina' }] },
    Itself: { 'Fn::Not': [{ Condition: 'Itself' }] },
  },
  Resources: {
    Stream: { Type: 'AWS::Kinesis::Stream' },
    Parameter: { Type: 'AWS::SSM::Parameter', Properties: { Name: '/stream', Value: { Ref: 'Stream' } } },
  },
  Outputs: { Name: { Value: 'imported', Export: { Name: { 'Fn::Sub': '${Stream}-name' } } } },
};

const [SCOPE] = stackScopes<StackTemplate>([{ id: 'Orders', name: 'Orders', template: TEMPLATE, nested: new Map() }], {
  pseudoParameters: () => ({ 'AWS::Region': 'us-east-1' }),
  valueOf: ({ logicalId, attribute }) => {
    if (attribute === undefined) return { value: `${logicalId}-1` };
    return attribute === 'Arn' ? { value: `arn:${logicalId}` } : { reason: `there is no ${attribute}` };
  },
});

describe('resolve', () => {
  test.each<[unknown, unknown]>([
    [{ Ref: 'Stream' }, 'Stream-1'],
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [{ 'Fn::GetAtt': ['Stream', 'Arn'] }, 'arn:Stream'],
    [{ 'Fn::GetAtt': 'Stream.Arn' }, 'arn:Stream'],
    [{ 'Fn::Join': ['/', ['a', { Ref: 'Stream' }, 1]] }, 'a/Stream-1/1'],
    [{ 'Fn::Join': ['+', { 'Fn::Split': ['-', 'a-b'] }] }, 'a+b'],
    [{ 'Fn::Split': ['-', { Ref: 'Stream' }] }, ['Stream', '1']],
    [{ 'Fn::Select': ['1', { Ref: 'Zones' }] }, 'b'],
    [{ 'Fn::Select': [0, ['a', 'b']] }, 'a'],
    [{ 'Fn::Sub': 'arn:${AWS::Region}:${Stream}' }, 'arn:us-east-1:Stream-1'],
    [{ 'Fn::Sub': '${Stream.Arn} of ${!Stream}' }, 'arn:Stream of ${Stream}'],
    [{ 'Fn::Sub': ['${Name} in ${AWS::Region}', { Name: { Ref: 'Stream' } }] }, 'Stream-1 in us-east-1'],
    [{ 'Fn::If': ['InUs', 'yes', 'no'] }, 'yes'],
    [
      { 'Fn::If': ['InChina', { Ref: 'Unknown' }, 'only the chosen branch is looked at'] },
      'only the chosen branch is looked at',
    ],
    [{ 'Fn::FindInMap': ['Map', { Ref: 'AWS::Region' }, 'key'] }, 'mapped'],
    [{ 'Fn::ImportValue': { 'Fn::Sub': '${Stream}-name' } }, 'imported'],
    [{ 'Fn::FindInMap': ['Map', 'cn-north-1', 'key', { DefaultValue: { Ref: 'Stream' } }] }, 'Stream-1'],
    [{ 'Fn::GetStackOutput': { StackName: 'Orders', OutputName: 'Name' } }, 'imported'],
    [{ 'Fn::ToJsonString': { a: [{ Ref: 'Stream' }] } }, '{"a":["Stream-1"]}'],
    [{ 'Fn::Length': { Ref: 'Zones' } }, 2],
    [{ 'Fn::Base64': { Ref: 'Stream' } }, 'U3RyZWFtLTE='],
    [{ 'Fn::Select': [0, ['only the selected item is read', { Ref: 'Unknown' }]] }, 'only the selected item is read'],
    [{ Ref: 'Count' }, 4],
    [{ Ref: 'Stored' }, 'Stream-1'],
    ['arn/{{resolve:ssm:/stream:3}}', 'arn/Stream-1'],
    [{ 'Fn::GetAtt': ['Parameter', 'Value'] }, 'Stream-1'],
    [{ a: [{ b: { Ref: 'Stream' } }] }, { a: [{ b: 'Stream-1' }] }],
  ])('resolves %j', (value, expected) => {
    expect(resolve(value, SCOPE!)).toEqual({ value: expected });
  });

  test('removes a property or a list element with the value AWS::NoValue', () => {
    const noValue = { Ref: 'AWS::NoValue' };
    expect(resolve({ gone: noValue, kept: [1, { 'Fn::If': ['InUs', noValue, 2] }, 3] }, SCOPE!)).toEqual({
      value: { kept: [1, 3] },
    });
  });

  test('does not change an object with Ref and another key', () => {
    const value = { Ref: 'Stream', Type: 'String' };
    expect(resolve(value, SCOPE!)).toEqual({ value });
  });

  test.each<[unknown, string]>([
    [{ Ref: 'Unknown' }, 'the template has no Unknown'],
    [{ Ref: 'Stage' }, 'the parameter Stage has no default'],
    [{ 'Fn::GetAtt': ['Stream', 'StreamArn'] }, 'there is no StreamArn'],
    [{ 'Fn::Cidr': ['10.0.0.0/8', 4] }, 'only CloudFormation evaluates Fn::Cidr'],
    [{ 'Fn::Select': [2, ['a', 'b']] }, 'the list has no element 2'],
    [{ 'Fn::Sub': '${Zones}' }, 'expected a string, got ["a","b"]'],
    [{ 'Fn::Join': 'no list' }, 'expected a list, got "no list"'],
    [{ 'Fn::If': ['Unknown', 1, 2] }, 'there is no condition Unknown'],
    [{ 'Fn::Transform': { Name: 'AWS::Include' }, other: 1 }, 'only CloudFormation runs the macro AWS::Include'],
    ['{{resolve:secretsmanager:key}}', 'only AWS knows {{resolve:secretsmanager:key}}'],
    [{ 'Fn::Join': ['', ['{{resolve:', 'ssm:/other}}']] }, 'only Systems Manager knows the parameter /other'],
    [{ 'Fn::ImportValue': 'other' }, 'no stack of the app exports other'],
    [
      { 'Fn::GetStackOutput': { StackName: 'Other', OutputName: 'Name' } },
      'the app has no output Name of a stack Other',
    ],
  ])('gives the reason why %j is unknown, and its path', (intrinsic, reason) => {
    const value = { Variables: { NAMES: ['first', intrinsic] } };
    expect(resolve(value, SCOPE!)).toEqual({ reason });
    expect(resolveSelected(value, { Variables: true }, SCOPE!)).toEqual({
      reason: `Variables.NAMES[1] is unknown: ${reason}`,
    });
    expect(resolveKnown({ ...value, known: { Ref: 'Stream' } }, SCOPE!)).toEqual({ ...value, known: 'Stream-1' });
  });

  test('does not change a value without intrinsic functions', () => {
    fc.assert(
      fc.property(plainJson(), (value) => {
        expect(resolve(value, SCOPE!)).toEqual({ value });
      }),
    );
  });
});

test.each<[string, unknown]>([
  ['InUs', { value: true }],
  ['InChina', { value: false }],
  ['Somewhere', { value: true }],
  ['Everywhere', { value: false }],
  ['NotInChina', { value: true }],
  ['InStage', { reason: 'the parameter Stage has no default' }],
  ['UsOrStage', { value: true }],
  ['ChinaAndStage', { value: false }],
  ['Itself', { reason: 'the condition Itself refers to itself' }],
])('the condition %s is as expected, even if it depends on an unknown condition', (name, expected) => {
  expect(SCOPE!.condition(name)).toEqual(expected);
});

/** Any JSON without a key of an intrinsic function. */
function plainJson(): fc.Arbitrary<unknown> {
  return fc.jsonValue().filter((value) => !/"(Ref|Fn::)/.test(JSON.stringify(value)));
}
