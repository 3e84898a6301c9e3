/**
 * A string value for both kinds of DynamoDB clients. A client with attribute values reads `S`. A document client treats the
 * object as a `String`, because of the name of its class. `once` needs it, because it does not know which client sends the
 * transaction.
 */
class EitherString {
  constructor(readonly S: string) {}

  toString(): string {
    return this.S;
  }
}

/** A number value for both kinds of DynamoDB clients. */
class EitherNumber {
  constructor(readonly N: string) {}

  toString(): string {
    return this.N;
  }
}

// Source: convertToAttr of @aws-sdk/util-dynamodb. A bundler may rename a class, so its name is a property.
Object.defineProperty(EitherString, 'name', { value: 'String' });
Object.defineProperty(EitherNumber, 'name', { value: 'Number' });

export function eitherString(S: string): { S: string } {
  return new EitherString(S);
}

export function eitherNumber(N: string): { N: string } {
  return new EitherNumber(N);
}
