import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenCases } from '../support/token-cases';

interface TypeReference {
  readonly primitive?: string;
  readonly fqn?: string;
  readonly collection?: { readonly elementtype: TypeReference };
}

interface Parameter {
  readonly name: string;
  readonly type: TypeReference;
}

interface JsiiType {
  readonly name: string;
  readonly kind: string;
  readonly datatype?: boolean;
  readonly properties?: Parameter[];
  readonly initializer?: { readonly parameters?: Parameter[] };
  readonly methods?: { readonly name: string; readonly parameters?: Parameter[] }[];
}

/** The public API of the library, as the jsii compiler describes it. */
const { types } = JSON.parse(readFileSync(join(__dirname, '..', '..', '.jsii'), 'utf8'));

function isNumeric({ primitive, fqn, collection }: TypeReference): boolean {
  if (collection !== undefined) return isNumeric(collection.elementtype);
  return primitive === 'number' || fqn === 'aws-cdk-lib.Duration' || fqn === 'aws-cdk-lib.Size';
}

function numbersOf({ name, datatype, properties, initializer, methods }: JsiiType): string[] {
  const numeric = (parameters: Parameter[] = []) => parameters.filter(({ type }) => isNumeric(type));
  return [
    ...(datatype ? numeric(properties).map((property) => `${name}.${property.name}`) : []),
    ...numeric(initializer?.parameters).map((parameter) => `${name}.new(${parameter.name})`),
    ...(methods ?? []).flatMap((method) =>
      numeric(method.parameters).map((parameter) => `${name}.${method.name}(${parameter.name})`),
    ),
  ];
}

test('tokenCases has a case for every number, duration and size of the public API', () => {
  const numbers = Object.values<JsiiType>(types).flatMap(numbersOf);
  const cases = tokenCases.map(({ name }) => name.split(/,| of /)[0]!);

  expect(numbers.length).toBeGreaterThan(50);
  expect(numbers.filter((each) => !cases.includes(each))).toEqual([]);
  expect(cases.filter((each) => !numbers.includes(each))).toEqual([]);
});
