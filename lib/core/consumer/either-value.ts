/**
 * A string value for both kinds of DynamoDB clients. A client that takes attribute values reads `S`. A document client treats the
 * object as a `String`, because the class has that name. `once` needs such values, because `once` does not know which kind of
 * client sends the transaction.
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

// The document client checks the name of the class. A bundler may rename a class, so the name is set here. Source: convertToAttr
// of @aws-sdk/util-dynamodb.
Object.defineProperty(EitherString, 'name', { value: 'String' });
Object.defineProperty(EitherNumber, 'name', { value: 'Number' });

export function eitherString(S: string): { S: string } {
  return new EitherString(S);
}

export function eitherNumber(N: string): { N: string } {
  return new EitherNumber(N);
}
