/**
 * A string that every client of DynamoDB sends as a string: a client that takes attribute values reads `S`, and a document client
 * takes the object for a `String`, by the name of its class. `once` needs it, because it does not see which client sends a
 * transaction.
 */
class EitherString {
  constructor(readonly S: string) {}

  toString(): string {
    return this.S;
  }
}

/** The same for a number. */
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
