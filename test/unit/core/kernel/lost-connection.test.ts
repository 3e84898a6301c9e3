import dns from 'node:dns';
import { constants } from 'node:os';
import { isTransientError } from '@smithy/core/retry';
import { isLostConnection } from '../../../../lib/core/kernel/lost-connection';

const codesOfNames = Object.values(dns).filter((value) => typeof value === 'string');
const codes = [...Object.keys(constants.errno), ...codesOfNames, 'EAI_AGAIN', 'EAI_FAIL'];

test.each(codes)('%s says that a connection is lost if the SDK tries again after it', (code) => {
  expect(isLostConnection(code)).toBe(isTransientError({ name: 'Error', message: '', $metadata: {}, ...{ code } }));
});

test('no code says nothing', () => {
  expect(isLostConnection(undefined)).toBe(false);
});
