/**
 * The maximum size of a key attribute of a table or an index, in bytes: of a partition key attribute, and of a sort key attribute.
 * Source: the DynamoDB developer guide, "Quotas".
 */
export const MAX_KEY_BYTES = { partition: 2_048, sort: 1_024 } as const;
