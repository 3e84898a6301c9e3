import { checkNotNegative } from '../kernel/checks';

/** The prices from which the planner computes costs, in US dollars. */
export interface ListPrices {
  /** The Region and the time of these prices. */
  asOf: string;
  /** Kinesis in provisioned mode: one shard for an hour. */
  shardHour: number;
  /** Kinesis in provisioned mode: a million PUT payload units of 25 KB. */
  millionPutPayloadUnits: number;
  /** Kinesis enhanced fan-out: one consumer of one shard for an hour. */
  consumerShardHour: number;
  /** Kinesis enhanced fan-out: a gigabyte that a consumer reads. */
  fanOutGigabyte: number;
  /** DynamoDB on demand, standard table class: a million write request units. */
  millionWriteUnits: number;
  /** DynamoDB on demand, standard table class: a million read request units. */
  millionReadUnits: number;
}

/**
 * The list prices of the Region us-east-1, without the free tier, discounts and taxes. Prices change, and they differ
 * between Regions. Before you rely on a cost, check these prices against the pricing pages, and pass your own prices to
 * `planStream` and `planIndex`.
 *
 * Source: the pricing pages of Amazon Kinesis Data Streams and Amazon DynamoDB. The on-demand prices of DynamoDB are
 * valid since November 2024. All prices were the newest in public documents in November 2026.
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

/**
 * Returns the prices of the caller, and the list price for each price that the caller has not set.
 *
 * @throws InvalidArgumentError if a price is below 0
 */
export function pricesWith(own: Partial<ListPrices> = {}): ListPrices {
  const prices = { ...LIST_PRICES, ...own };
  for (const [name, price] of Object.entries(prices)) {
    if (name !== 'asOf') checkNotNegative(`prices.${name}`, price);
  }
  return prices;
}
