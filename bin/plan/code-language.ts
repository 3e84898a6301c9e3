import { UsageError } from '../flags';

/** The languages of the printed code. */
const LANGUAGES = ['typescript', 'python', 'java'] as const;
export type Language = (typeof LANGUAGES)[number];

/** @throws UsageError if no code can be printed in this language */
export function languageOf(command: string, name: string = LANGUAGES[0]): Language {
  const language = LANGUAGES.find((each) => each === name);
  if (language !== undefined) return language;
  throw new UsageError(`--language must be one of ${LANGUAGES.join(', ')}, got "${name}"`, command);
}

/** The classes that the code uses. In Python and in Java, a struct is a class too. */
interface UsedClasses {
  readonly library: readonly string[];
  readonly libraryStructs?: readonly string[];
  readonly dynamodb?: readonly string[];
  readonly dynamodbStructs?: readonly string[];
  /** The classes of `java.util`. */
  readonly java?: readonly string[];
}

/** The names of properties, in camel case, and the code of their values. A property without code is absent. */
type Properties = Readonly<Record<string, string | undefined>>;

/** A name for the result of a statement. Only Java needs the type. */
interface Variable {
  readonly name: string;
  readonly type: string;
}

/** The code before properties, and after them. */
type Brackets = readonly [open: string, close: string];

/** How a language writes CDK code. */
interface Dialect {
  /** The object that a construct gets as its scope. */
  readonly scope: string;
  readonly yes: string;
  imports(classes: UsedClasses): string[];
  comment(text: string): string;
  /** A string literal. */
  text(value: string): string;
  list(elements: readonly string[]): string;
  /** The name of a method, without its object. */
  method(name: string): string;
  /** `ShardCounts.byValue` with the counts of some values, and a count of 1 for all others. The values are code. */
  countsByValue(counts: readonly (readonly [value: string, count: number])[]): string;
  construct(type: string, id: string): Brackets;
  struct(type: string): Brackets;
  /** Calls a method whose only argument is a struct. */
  call(method: string, struct: string): Brackets;
  property(name: string, code: string): string;
  inOneLine(properties: readonly string[], brackets: Brackets): string;
  inLines(properties: readonly string[], brackets: Brackets): string[];
  assignment(variable: Variable): string;
  readonly end: string;
}

const TYPESCRIPT: Dialect = {
  scope: 'this',
  yes: 'true',
  imports: ({ library, dynamodb }) => [
    ...(dynamodb === undefined ? [] : [`import { ${sorted(dynamodb)} } from 'aws-cdk-lib/aws-dynamodb';`]),
    `import { ${sorted(library)} } from 'cdk-even-shards';`,
  ],
  comment: (text) => `// ${text}`,
  text: quoted,
  list: (elements) => `[${elements.join(', ')}]`,
  method: (name) => name,
  countsByValue: (counts) => {
    // In an object literal, a variable needs brackets as a name. The name `__proto__` without brackets would set the prototype.
    const name = (value: string) => (value.startsWith("'") && value !== "'__proto__'" ? value : `[${value}]`);
    const entries = counts.map(([value, count]) => `      ${name(value)}: ${count},\n`);
    return `ShardCounts.byValue(\n    {\n${entries.join('')}    },\n    1,\n  )`;
  },
  construct: (type, id) => [`new ${type}(this, ${quoted(id)}, {`, '})'],
  struct: () => ['{', '}'],
  call: (method) => [`${method}({`, '})'],
  property: (name, code) => (name === code ? name : `${name}: ${code}`),
  inOneLine: (properties, [open, close]) => `${open} ${properties.join(', ')} ${close}`,
  inLines: (properties, [open, close]) => [open, ...properties.map((property) => `  ${property},`), close],
  assignment: ({ name }) => `const ${name} = `,
  end: ';',
};

const PYTHON: Dialect = {
  scope: 'self',
  yes: 'True',
  imports: ({ library, libraryStructs = [], dynamodb, dynamodbStructs = [] }) => [
    ...(dynamodb === undefined
      ? []
      : [`from aws_cdk.aws_dynamodb import ${sorted([...dynamodb, ...dynamodbStructs])}`]),
    `from cdk_even_shards import ${sorted([...library, ...libraryStructs])}`,
  ],
  comment: (text) => `# ${text}`,
  text: (value) => JSON.stringify(value),
  list: (elements) => `[${elements.join(', ')}]`,
  method: snakeCase,
  countsByValue: (counts) => {
    const entries = counts.map(([value, count]) => `        ${value}: ${count},\n`);
    return `ShardCounts.by_value({\n${entries.join('')}    }, 1)`;
  },
  construct: (type, id) => [`${type}(self, ${JSON.stringify(id)},`, ')'],
  struct: (type) => [`${type}(`, ')'],
  call: (method) => [`${method}(`, ')'],
  property: (name, code) => `${snakeCase(name)}=${code}`,
  inOneLine: (properties, [open, close]) => `${open.replace(/,$/, ', ')}${properties.join(', ')}${close}`,
  inLines: (properties, [open, close]) => [open, ...properties.map((property) => `    ${property},`), close],
  assignment: ({ name }) => `${name} = `,
  end: '',
};

const JAVA: Dialect = {
  scope: 'this',
  yes: 'true',
  imports: ({ java = [], dynamodb = [], dynamodbStructs = [] }) => {
    const ofDynamodb = [...dynamodb, ...dynamodbStructs].sort();
    const classes = [
      ...java.map((name) => `java.util.${name}`),
      ...ofDynamodb.map((name) => `software.amazon.awscdk.services.dynamodb.${name}`),
    ];
    return ['io.github.cdkevenshards.*', ...classes].map((name) => `import ${name};`);
  },
  comment: (text) => `// ${text}`,
  text: (value) => JSON.stringify(value),
  list: (elements) => `List.of(${elements.join(', ')})`,
  method: (name) => name,
  countsByValue: (counts) => {
    const entries = counts.map(([value, count]) => `        Map.entry(${value}, ${count})`);
    return `ShardCounts.byValue(Map.ofEntries(\n${entries.join(',\n')}\n    ), 1)`;
  },
  construct: (type, id) => [`${type}.Builder.create(this, ${JSON.stringify(id)})`, '.build()'],
  struct: (type) => [`${type}.builder()`, '.build()'],
  call: (method, struct) => [`${method}(${struct}.builder()`, '.build())'],
  property: (name, code) => `.${name}(${code})`,
  inOneLine: (properties, [open, close]) => `${open}${properties.join('')}${close}`,
  inLines: (properties, [open, close]) => [open, ...[...properties, close].map((part) => `    ${part}`)],
  assignment: ({ name, type }) => `${type} ${name} = `,
  end: ';',
};

const LONGEST_LINE = 100;

/** Writes the code of structs, calls and constructs in a language. */
export class CdkCode {
  private constructor(readonly language: Dialect) {}

  static in(language: Language): CdkCode {
    return new CdkCode({ typescript: TYPESCRIPT, python: PYTHON, java: JAVA }[language]);
  }

  struct(type: string, properties: Properties): string {
    return this.language.inOneLine(this.codeOf(properties), this.language.struct(type));
  }

  /** Calls a method with a struct. */
  call(method: string, struct: string, properties: Properties): string {
    return this.language.inOneLine(this.codeOf(properties), this.language.call(method, struct));
  }

  /** The statement that calls a method with a struct. */
  callStatement(method: string, struct: string, properties: Properties, variable?: Variable): string[] {
    return this.statement(this.language.call(method, struct), properties, variable);
  }

  /** The statement that creates a construct. */
  constructStatement(type: string, id: string, properties: Properties, name?: string): string[] {
    return this.statement(
      this.language.construct(type, id),
      properties,
      name === undefined ? undefined : { name, type },
    );
  }

  /** Several properties are in lines of their own. */
  private statement(brackets: Brackets, properties: Properties, variable: Variable | undefined): string[] {
    const codes = this.codeOf(properties);
    const line = this.language.inOneLine(codes, brackets);
    const lines = codes.length === 1 && line.length <= LONGEST_LINE ? [line] : this.language.inLines(codes, brackets);
    const start = variable === undefined ? '' : this.language.assignment(variable);
    return `${start}${lines.join('\n')}${this.language.end}`.split('\n');
  }

  private codeOf(properties: Properties): string[] {
    return Object.entries(properties).flatMap(([name, code]) =>
      code === undefined ? [] : this.language.property(name, code),
    );
  }
}

/** A TypeScript string literal. */
export function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`;
}

function sorted(names: readonly string[]): string {
  return [...names].sort().join(', ');
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
