import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import { warnIfWithoutEffect } from './grant-without-effect';

/**
 * The actions on a table's customer-managed key that a principal needs to write items. CDK's own grants also allow a
 * principal to generate data keys without plaintext and data key pairs. Source: the DynamoDB developer guide,
 * "Encryption at rest".
 */
export const TABLE_WRITE_KEY_ACTIONS = [
  'kms:Decrypt',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/**
 * Allows a grantee actions on a key. Synthesis warns if the key and the grantee are in different accounts and this app does not
 * define the key, because then the policy of the key must allow the actions, too.
 *
 * CDK's own grants differ for an imported key, such as the key of a replica. They have no effect on an imported alias. If the
 * grantee is in another region than the stack that imports the key, they allow the actions on every key.
 *
 * @param construct the class that grants, for the id of the warning
 */
export function grantOnKey(
  key: kms.IKey,
  grantee: iam.IGrantable,
  actions: readonly string[],
  construct: string,
): iam.Grant {
  if (key instanceof kms.Alias) return grantOnKey(key.aliasTargetKey, grantee, actions, construct);
  const grant = hasOwnPolicy(key)
    ? key.grant(grantee, ...actions)
    : iam.Grant.addToPrincipal({ grantee, actions: [...actions], ...importedKey(key) });
  return warnIfKeyIsForeign(key, grant, grantee, actions, construct);
}

/**
 * Allows a grantee actions on the key of an event source, if the key is imported. CDK's event sources already allow the actions on
 * the keys of this app.
 */
export function grantOnSourceKey(
  key: kms.IKey | undefined,
  grantee: iam.IGrantable,
  actions: readonly string[],
  construct: string,
): void {
  if (key !== undefined && !(key instanceof kms.Alias) && !hasOwnPolicy(key)) {
    grantOnKey(key, grantee, actions, construct);
  }
}

/** Warns if a grant on a key also needs a statement in the policy of the key, and this app cannot add this statement. */
export function warnIfKeyIsForeign(
  key: kms.IKey,
  grant: iam.Grant,
  grantee: iam.IGrantable,
  actions: readonly string[],
  construct: string,
): iam.Grant {
  return warnIfWithoutEffect(key, grant, {
    grantee,
    actions,
    construct,
    name: `the key ${key.node.id}`,
    hasOwnPolicy: hasOwnPolicy(key),
    remedy: 'allow it in the policy of the key, where the key is defined',
  });
}

/** Whether this app defines the policy of a key. */
function hasOwnPolicy(key: kms.IKey): boolean {
  return key instanceof kms.Key || key.node.scope instanceof kms.CfnKey;
}

const ALIAS = /:(alias\/.*)$/;

/**
 * The resource of a permission on an imported key. A permission on the ARN of an alias does not allow to use the key, so the
 * permission for an alias is on all keys that have the alias. Source: the KMS developer guide, "Use aliases to control access to
 * KMS keys".
 */
function importedKey({ keyArn }: kms.IKey): Pick<iam.GrantOnPrincipalOptions, 'resourceArns' | 'conditions'> {
  const [, alias] = ALIAS.exec(keyArn) ?? [];
  if (alias === undefined) return { resourceArns: [keyArn] };
  return {
    resourceArns: [keyArn.replace(ALIAS, ':key/*')],
    conditions: { 'ForAnyValue:StringEquals': { 'kms:ResourceAliases': alias } },
  };
}
