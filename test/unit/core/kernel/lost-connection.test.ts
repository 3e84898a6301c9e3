import dns from 'node:dns';
import { constants } from 'node:os';
import { isTransientError } from '@smithy/core/retry';
import { isLostConnection } from '../../../../lib/core/kernel/lost-connection';

const codesOfNames = Object.values(dns).filter((value) => typeof value === 'string');
const codes = [...Object.keys(constants.errno), ...codesOfNames, 'EAI_AGAIN', 'EAI_FAIL'];

test('isLostConnection – any error code of Node.js – returns true if and only if the SDK retries the error', () => {
  const isRetriedBySdk = (code: string) => isTransientError({ name: 'Error', message: '', $metadata: {}, ...{ code } });
  expect(codes.filter(isLostConnection)).toEqual(codes.filter(isRetriedBySdk));
});
