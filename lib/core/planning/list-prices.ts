import { checkNotNegative } from './number-checks';

/** What the planner multiplies with, in US dollars. */
export interface ListPrices {
  /** When and where these prices were in force. */
  asOf: string;
  /** Kinesis provisioned mode: one shard for an hour. */
  shardHour: number;
  /** Kinesis provisioned mode: a million PUT payload units of 25 KB. */
  millionPutPayloadUnits: number;
  /** Kinesis enhanced fan-out: one consumer of one shard for an hour. */
  consumerShardHour: number;
  /** Kinesis enhanced fan-out: a gigabyte read. */
  fanOutGigabyte: number;
  /** DynamoDB on demand, standard table class: a million write request units. */
  millionWriteUnits: number;
  /** DynamoDB on demand, standard table class: a million read request units. */
  millionReadUnits: number;
}

/**
 * The list prices of the region us-east-1, without free tier, discounts and taxes. Prices change and differ between
 * regions: check them against the pricing pages before you rely on a cost, and give `planStream` and `planIndex` your own.
 *
 * Source: the pricing pages of Amazon Kinesis Data Streams and Amazon DynamoDB; DynamoDB's on-demand prices are those in
 * force since November 2024.
 */
export const LIST_PRICES: ListPrices = {
  asOf: 'us-east-1, 2025',
  shardHour: 0.015,
  millionPutPayloadUnits: 0.014,
  consumerShardHour: 0.015,
  fanOutGigabyte: 0.013,
  millionWriteUnits: 0.625,
  millionReadUnits: 0.125,
};

export const HOURS_PER_MONTH = 730;
export const SECONDS_PER_MONTH = HOURS_PER_MONTH * 3_600;

/** The list prices with some of them replaced. Throws `InvalidArgumentError` for a price below 0. */
export function pricesWith(own: Partial<ListPrices> = {}): ListPrices {
  const prices = { ...LIST_PRICES, ...own };
  for (const [name, price] of Object.entries(prices)) {
    if (name !== 'asOf') checkNotNegative(`prices.${name}`, price);
  }
  return prices;
}
