import { isRetryableRequestError, isThrottle, mayHaveBeenApplied } from '../../../../lib/core/producer/retry';

const serviceError = (name: string, httpStatusCode?: number, more: object = {}) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode }, ...more });

describe('isRetryableRequestError', () => {
  test.each<[string, unknown]>([
    ['a lost connection', Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })],
    ['a time-out', serviceError('TimeoutError')],
    ['an aborted request', serviceError('AbortError')],
    ['a truncated response', serviceError('Error', 200)],
    ['a redirect', serviceError('Unknown', 307)],
    ['an internal failure', serviceError('InternalFailure', 500)],
    ['an unavailable service', serviceError('ServiceUnavailable', 503)],
    ['too many requests', serviceError('Unknown', 429)],
    ['a request time-out', serviceError('Unknown', 408)],
    ['throttling of the stream', serviceError('ProvisionedThroughputExceededException', 400)],
    ['throttling of the account', serviceError('Throttling', 400)],
    ['throttling of the KMS key', serviceError('KMSThrottlingException', 400)],
    ['an expired token', serviceError('ExpiredTokenException', 400)],
    [
      'a wrong clock that the SDK has corrected',
      serviceError('InvalidSignatureException', 403, { $metadata: { httpStatusCode: 403, clockSkewCorrected: true } }),
    ],
    ['an error with $retryable', serviceError('Anything', 400, { $retryable: {} })],
    ['a network error of fetch', new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })],
    ['null', null],
  ])('is true for %s', (_, error) => {
    expect(isRetryableRequestError(error)).toBe(true);
  });

  test.each<[string, unknown]>([
    ['a denied permission', serviceError('AccessDeniedException', 400)],
    ['a stream that does not exist', serviceError('ResourceNotFoundException', 400)],
    ['an invalid argument', serviceError('InvalidArgumentException', 400)],
    ['a wrong signature', serviceError('InvalidSignatureException', 403)],
    ['missing credentials', serviceError('CredentialsProviderError')],
    ['a programming error', new TypeError('client.putRecords is not a function')],
  ])('is false for %s', (_, error) => {
    expect(isRetryableRequestError(error)).toBe(false);
  });
});

describe('a response with an unknown error name', () => {
  test.each([
    [200, true, true],
    [399, true, true],
    [400, false, false],
    [407, false, false],
    [408, true, true],
    [428, false, false],
    [429, true, false],
    [499, false, false],
    [500, true, true],
    [599, true, true],
  ])(
    'with status %d – isRetryableRequestError returns %s, and mayHaveBeenApplied returns %s',
    (status, retryable, applied) => {
      const error = serviceError('Unknown', status);
      expect(isRetryableRequestError(error)).toBe(retryable);
      expect(mayHaveBeenApplied(error)).toBe(applied);
    },
  );
});

test.each([
  ['ThrottlingException', 400, true],
  ['Unknown', 429, true],
  ['Unknown', 503, false],
])('isThrottle – %s with status %d – returns %s', (name, status, expected) => {
  expect(isThrottle(serviceError(name, status))).toBe(expected);
});

describe('mayHaveBeenApplied', () => {
  test.each<[string, unknown, boolean]>([
    ['a lost connection', Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }), true],
    ['a response that the SDK could not parse', Object.assign(new TypeError('json'), { $response: {} }), true],
    ['a network error of fetch', new TypeError('fetch failed', { cause: new Error('ECONNRESET') }), true],
    ['throttling', serviceError('Throttling'), false],
    ['missing credentials', serviceError('CredentialsProviderError'), false],
    ['a programming error', new TypeError('client.putRecords is not a function'), false],
  ])('returns the correct result for %s', (_, error, expected) => {
    expect(mayHaveBeenApplied(error)).toBe(expected);
  });
});
