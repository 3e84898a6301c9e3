/**
 * What a principal needs on the customer-managed key of a table to write its items. Each by its name: CDK's own grants also
 * allow data keys without plaintext and in pairs. Source: the DynamoDB developer guide, "Encryption at rest".
 */
export const TABLE_WRITE_KEY_ACTIONS = [
  'kms:Decrypt',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];
