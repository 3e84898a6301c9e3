import { requireSupportedCdk } from '../../../lib/construct/supported-cdk';
import { peerDependencies } from '../../../package.json';

describe('requireSupportedCdk', () => {
  const lowest = {
    'aws-cdk-lib': peerDependencies['aws-cdk-lib'].slice(1),
    constructs: peerDependencies.constructs.slice(1),
  };

  test.each([
    {},
    { 'aws-cdk-lib': '2.1000.0' },
    { 'aws-cdk-lib': '3.0.0', constructs: '11.0.0' },
    { constructs: '10.10.0' },
  ])('accepts the lowest versions in package.json with the change %j', (newer) => {
    expect(() => requireSupportedCdk({ ...lowest, ...newer })).not.toThrow();
  });

  test('accepts the installed versions', () => {
    expect(() => requireSupportedCdk()).not.toThrow();
  });

  test.each([
    [
      { 'aws-cdk-lib': '2.235.1' },
      'aws-cdk-lib 2.236.0 or newer, found 2.235.1: update with npm install aws-cdk-lib@^2.236.0',
    ],
    [
      { 'aws-cdk-lib': '1.300.0' },
      'aws-cdk-lib 2.236.0 or newer, found 1.300.0: update with npm install aws-cdk-lib@^2.236.0',
    ],
    [{ constructs: '10.4.1' }, 'constructs 10.4.2 or newer, found 10.4.1: update with npm install constructs@^10.4.2'],
    [
      { 'aws-cdk-lib': '2.99.0', constructs: '10.0.5' },
      'aws-cdk-lib 2.236.0 or newer, found 2.99.0, and constructs 10.4.2 or newer, found 10.0.5: ' +
        'update with npm install aws-cdk-lib@^2.236.0 constructs@^10.4.2',
    ],
  ])('names in one line the update that %j needs', (older, line) => {
    expect(() => requireSupportedCdk({ ...lowest, ...older })).toThrow(`cdk-even-shards needs ${line}`);
  });
});
