import { queryFailure } from '../../../../../lib/core/sharded-index/client/query-failure';

/** A query that failed is sent again if it was throttled, or if the failure is transient. */
test.each([
  ['throttled', { name: 'ProvisionedThroughputExceededException' }],
  ['throttled', { code: 'ThrottlingException' }],
  ['throttled', { $retryable: { throttling: true } }],
  ['throttled', { $metadata: { httpStatusCode: 429 } }],
  ['throttled', { statusCode: 429 }],
  ['transient', { $retryable: {} }],
  ['transient', { $retryable: { throttling: false } }],
  ['transient', { name: 'TimeoutError' }],
  ['transient', { code: 'ECONNRESET' }],
  ['transient', { $metadata: { httpStatusCode: 500 } }],
  ['transient', { statusCode: 503 }],
  ['final', { $metadata: { httpStatusCode: 400 } }],
  ['final', { statusCode: 499 }],
  ['final', { $metadata: { httpStatusCode: 400 }, statusCode: 500 }],
  ['final', { name: 'ECONNRESET' }],
  ['final', new Error('what an application throws')],
  ['final', undefined],
])('a query is %s after %j', (failure, error) => {
  expect(queryFailure(error)).toBe(failure);
});
