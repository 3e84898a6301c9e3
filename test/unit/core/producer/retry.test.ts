import { isRetryableRequestError, isThrottle, mayHaveBeenApplied } from '../../../../lib/core/producer/retry';

const serviceError = (name: string, httpStatusCode?: number, more: object = {}) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode }, ...more });

const lostConnection = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const skewedClock = { $metadata: { httpStatusCode: 403, clockSkewCorrected: true } };

test.each<[string, unknown, boolean, boolean]>([
  ['a lost connection', lostConnection, true, true],
  ['a time-out', serviceError('TimeoutError'), true, true],
  ['an aborted request', serviceError('AbortError'), true, true],
  ['a truncated response', serviceError('Error', 200), true, true],
  ['a response that the SDK could not parse', Object.assign(new TypeError('json'), { $response: {} }), true, true],
  ['a redirect', serviceError('Unknown', 307), true, true],
  ['an internal failure', serviceError('InternalFailure', 500), true, true],
  ['an unavailable service', serviceError('ServiceUnavailable', 503), true, true],
  ['too many requests', serviceError('Unknown', 429), true, false],
  ['a request time-out', serviceError('Unknown', 408), true, true],
  ['throttling of the stream', serviceError('ProvisionedThroughputExceededException', 400), true, false],
  ['throttling of the account', serviceError('Throttling', 400), true, false],
  ['throttling without a status', serviceError('Throttling'), true, false],
  ['throttling of the KMS key', serviceError('KMSThrottlingException', 400), true, false],
  ['an expired token', serviceError('ExpiredTokenException', 400), true, false],
  [
    'a wrong clock that the SDK has corrected',
    serviceError('InvalidSignatureException', 403, skewedClock),
    true,
    false,
  ],
  ['an error with $retryable', serviceError('Anything', 400, { $retryable: {} }), true, false],
  ['a network error of fetch', new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }), true, true],
  ['null', null, true, true],
  ['a denied permission', serviceError('AccessDeniedException', 400), false, false],
  ['a stream that does not exist', serviceError('ResourceNotFoundException', 400), false, false],
  ['an invalid argument', serviceError('InvalidArgumentException', 400), false, false],
  ['a wrong signature', serviceError('InvalidSignatureException', 403), false, false],
  ['missing credentials', serviceError('CredentialsProviderError'), false, false],
  ['a programming error', new TypeError('client.putRecords is not a function'), false, false],
  ...(
    [
      [399, true, true],
      [400, false, false],
      [407, false, false],
      [428, false, false],
      [499, false, false],
      [599, true, true],
    ] as const
  ).map(([status, again, applied]): [string, unknown, boolean, boolean] => [
    `an unknown error with status ${status}`,
    serviceError('Unknown', status),
    again,
    applied,
  ]),
])('isRetryableRequestError and mayHaveBeenApplied return the correct results for %s', (_, error, again, applied) => {
  expect([isRetryableRequestError(error), mayHaveBeenApplied(error)]).toEqual([again, applied]);
});

test.each([
  ['ThrottlingException', 400, true],
  ['Unknown', 429, true],
  ['Unknown', 503, false],
])('isThrottle – %s with status %d – returns %s', (name, status, expected) => {
  expect(isThrottle(serviceError(name, status))).toBe(expected);
});
