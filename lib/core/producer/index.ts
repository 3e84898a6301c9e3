/**
 * `cdk-even-shards/producer`: writes records to a Kinesis stream in bulk and keeps the order of every partition key.
 *
 * @module producer
 */
export type { Clock } from '../foundation/clock';
export { EvenShardsError, InvalidArgumentError, InvalidHashKeyError } from '../foundation/errors';
export { bucketHashKey } from '../foundation/hash-buckets';
export type {
  SdkClient,
  SdkHttpResponse,
  SdkRequestHandler,
  SdkRequestOptions,
} from '../foundation/light-client/light-request';
export type { SdkMiddlewareStack } from '../foundation/light-client/routes';
export type { SigningCredentials } from '../foundation/light-client/signature';
export type { RecordSequence } from '../foundation/record-sequence';
export { lightPutClient, type SdkPutClient } from './light-put-client';
export { OrderedProducer } from './ordered-producer';
export type { PutReceipt } from './pending-record';
export {
  EarlierRecordFailedError,
  InvalidPartitionKeyError,
  ProducerAbortedError,
  ProducerClosedError,
  RecordExpiredError,
  RecordRejectedError,
  RecordTooLargeError,
  StreamDistributionError,
} from './producer-errors';
export type { OrderedProducerOptions } from './producer-options';
export type { ProducerRecord } from './producer-record';
export type { ProducerStatistics } from './producer-statistics';
export type { PutObserver, PutSummary } from './put-all';
export type {
  DescribeStreamSummaryOutput,
  ListShardsInput,
  ListShardsOutput,
  PutRecordInput,
  PutRecordOutput,
  PutRecordsClient,
  PutRecordsInput,
  PutRecordsOutput,
  PutRecordsRequestEntry,
  PutRecordsResultEntry,
  RequestOptions,
  ShardDescription,
} from './put-records-client';
