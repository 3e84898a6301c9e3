import { InvalidArgumentError } from '../core/kernel/errors';

/** The values of a metric over a range of periods, oldest first; NaN is a period without a value. */
export type Series = readonly number[];

/** The input of an expression: the series by id. All series have the same length and the same period. */
export interface MathRange {
  readonly series: ReadonlyMap<string, Series>;
  readonly periods: number;
  readonly periodSeconds: number;
  /** Whether FILL creates values for a series that has no value in the whole range. AWS does not document this. */
  readonly fillsEmpty: boolean;
}

type Value = number | Series | readonly Series[];
export type MathExpression = (range: MathRange) => Value;

/** The tokens: numbers, names and operators. Longer operators come first. */
const TOKEN = /\s*(\d+(?:\.\d+)?|[A-Za-z_]\w*|&&|\|\||[=!<>]=|[-+*/^<>()[\],])/y;

const OPERATORS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  // A division by zero has no value.
  '/': (a, b) => (b === 0 ? Number.NaN : a / b),
  '^': (a, b) => a ** b,
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
  '<=': (a, b) => Number(a <= b),
  '>=': (a, b) => Number(a >= b),
  '<': (a, b) => Number(a < b),
  '>': (a, b) => Number(a > b),
  AND: (a, b) => Number(a !== 0 && b !== 0),
  '&&': (a, b) => Number(a !== 0 && b !== 0),
  OR: (a, b) => Number(a !== 0 || b !== 0),
  '||': (a, b) => Number(a !== 0 || b !== 0),
};

/** The operators by precedence, lowest first. */
const PRECEDENCE = [['OR', '||'], ['AND', '&&'], ['==', '!=', '<=', '>=', '<', '>'], ['+', '-'], ['*', '/'], ['^']];

/** Combines several series into one series: for each period, aggregates the existing values. */
const AGGREGATES: Readonly<Record<string, (values: number[]) => number>> = {
  MAX: (values) => Math.max(...values),
  MIN: (values) => Math.min(...values),
  SUM: (values) => values.reduce((sum, value) => sum + value, 0),
};

/**
 * Parses a metric math expression: arithmetic, comparison and logical operators, FILL, IF, PERIOD, and MAX, MIN and SUM of
 * several series. The parser rejects unsupported functions. The parser also rejects MAX, MIN or SUM of one series, because the
 * result depends on the number of periods that CloudWatch reads.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
export function parseMetricMath(text: string): MathExpression {
  const parser = new Parser(text);
  const expression = parser.operation();
  parser.expectEnd();
  return expression;
}

class Parser {
  private readonly tokens: string[] = [];
  private position = 0;

  constructor(private readonly text: string) {
    TOKEN.lastIndex = 0;
    for (let at = 0; at < text.trimEnd().length; at = TOKEN.lastIndex) {
      const token = TOKEN.exec(text)?.[1];
      if (token === undefined) throw this.error(`made of numbers, ids, operators and functions (see position ${at})`);
      this.tokens.push(token);
    }
  }

  operation(level = 0): MathExpression {
    if (level === PRECEDENCE.length) return this.operand();
    let left = this.operation(level + 1);
    while (PRECEDENCE[level]!.includes(this.peek())) {
      const operator = OPERATORS[this.take()]!;
      const [a, b] = [left, this.operation(level + 1)];
      left = (range) => combine(a(range), b(range), operator);
    }
    return left;
  }

  expectEnd(): void {
    if (this.position < this.tokens.length) throw this.error(`complete before ${JSON.stringify(this.peek())}`);
  }

  private operand(): MathExpression {
    const token = this.take();
    if (token === '-') {
      const operand = this.operand();
      return (range) => combine(0, operand(range), OPERATORS['-']!);
    }
    if (token === '(') {
      const inner = this.operation();
      this.expect(')');
      return inner;
    }
    if (token === '[') {
      const elements = this.list(']');
      return (range) => elements.map((element) => asSeries(element(range), range));
    }
    if (/^\d/.test(token)) return () => Number(token);
    if (this.peek() === '(') return this.call(token);
    return (range) => seriesOf(range, token);
  }

  private call(name: string): MathExpression {
    this.expect('(');
    if (name === 'PERIOD') {
      this.list(')');
      return ({ periodSeconds }) => periodSeconds;
    }
    if (name === 'FILL') {
      const series = this.operation();
      this.expect(',');
      const repeat = this.peek() === 'REPEAT';
      const filler = repeat ? this.repeat() : this.operation();
      this.expect(')');
      return (range) => fill(asSeries(series(range), range), repeat ? undefined : filler(range), range);
    }
    const operands = this.list(')');
    if (name === 'IF') {
      const [condition, then, otherwise] = operands;
      if (then === undefined) throw this.error('an expression whose IF has a condition and a value');
      return (range) => choose(condition!(range), then(range), otherwise?.(range), range);
    }
    const aggregate = AGGREGATES[name];
    if (aggregate === undefined || operands.length !== 1) {
      throw this.error(`made of the supported functions (FILL, IF, PERIOD, MAX, MIN and SUM), not ${name}`);
    }
    return (range) => aggregateOf(operands[0]!(range), aggregate, name);
  }

  private repeat(): MathExpression {
    this.take();
    return () => Number.NaN;
  }

  private list(end: string): MathExpression[] {
    const elements = [this.operation()];
    while (this.peek() === ',') {
      this.take();
      elements.push(this.operation());
    }
    this.expect(end);
    return elements;
  }

  private peek(): string {
    return this.tokens[this.position] ?? '';
  }

  private take(): string {
    const token = this.tokens[this.position++];
    if (token === undefined) throw this.error('a complete expression');
    return token;
  }

  private expect(token: string): void {
    if (this.peek() !== token)
      throw this.error(`an expression with ${token} in place of ${JSON.stringify(this.peek())}`);
    this.position += 1;
  }

  private error(allowed: string): InvalidArgumentError {
    return new InvalidArgumentError('Expression', this.text, allowed);
  }
}

function seriesOf({ series }: MathRange, id: string): Series {
  const found = series.get(id);
  if (found === undefined) throw new InvalidArgumentError('Expression', id, `one of ${[...series.keys()].join(', ')}`);
  return found;
}

/**
 * AWS documents that missing values in a time series are treated as 0. This applies only to periods in which the other
 * operand has a value.
 */
function combine(a: Value, b: Value, operator: (a: number, b: number) => number): Value {
  if (typeof a === 'number' && typeof b === 'number') return operator(a, b);
  if (isSeriesList(a)) return a.map((each) => combine(each, b, operator) as Series);
  if (isSeriesList(b)) return b.map((each) => combine(a, each, operator) as Series);
  if (typeof a === 'number') return (b as Series).map((value) => (Number.isNaN(value) ? value : operator(a, value)));
  if (typeof b === 'number') return a.map((value) => (Number.isNaN(value) ? value : operator(value, b)));
  return a.map((value, period) => {
    const other = b[period]!;
    if (Number.isNaN(value) && Number.isNaN(other)) return Number.NaN;
    return operator(Number.isNaN(value) ? 0 : value, Number.isNaN(other) ? 0 : other);
  });
}

/**
 * Fills periods without a value. Without a filler, repeats the previous value, and periods before the first value stay empty.
 */
function fill(series: Series, filler: Value | undefined, { fillsEmpty }: MathRange): Series {
  if (!fillsEmpty && series.every(Number.isNaN)) return series;
  let last = Number.NaN;
  return series.map((value, period) => {
    if (filler === undefined && !Number.isNaN(value)) last = value;
    if (!Number.isNaN(value)) return value;
    if (filler === undefined) return last;
    return typeof filler === 'number' ? filler : (filler as Series)[period]!;
  });
}

function choose(condition: Value, then: Value, otherwise: Value | undefined, range: MathRange): Series {
  const conditions = asSeries(condition, range);
  const [ifTrue, ifFalse] = [asSeries(then, range), asSeries(otherwise ?? Number.NaN, range)];
  return conditions.map((value, period) => {
    if (Number.isNaN(value)) return value;
    if (value === 0) return ifFalse[period]!;
    return Number.isNaN(ifTrue[period]!) ? 0 : ifTrue[period]!;
  });
}

function aggregateOf(value: Value, aggregate: (values: number[]) => number, name: string): Series {
  if (!isSeriesList(value)) {
    throw new InvalidArgumentError(
      'Expression',
      name,
      'of several series (the result for one series depends on the range that CloudWatch reads)',
    );
  }
  return value[0]!.map((_, period) => {
    const values = value.map((series) => series[period]!).filter((each) => !Number.isNaN(each));
    return values.length === 0 ? Number.NaN : aggregate(values);
  });
}

function asSeries(value: Value, { periods }: MathRange): Series {
  if (typeof value === 'number') return Array(periods).fill(value);
  if (isSeriesList(value)) throw new InvalidArgumentError('Expression', 'several series', 'one series');
  return value;
}

function isSeriesList(value: Value): value is readonly Series[] {
  return typeof value === 'object' && typeof value[0] === 'object';
}
