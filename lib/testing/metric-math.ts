import { InvalidArgumentError } from '../core/kernel/errors';

/** The values of a metric over a range of periods, oldest first; NaN is a period without a value. */
export type Series = readonly number[];

/** What an expression is about: the series by their ids, all of the same length and period. */
export interface MathRange {
  readonly series: ReadonlyMap<string, Series>;
  readonly periods: number;
  readonly periodSeconds: number;
  /** Whether FILL makes values of a series that has none in the whole range. AWS does not say. */
  readonly fillsEmpty: boolean;
}

type Value = number | Series | readonly Series[];
export type MathExpression = (range: MathRange) => Value;

/** Numbers, names, and the operators, longest first. */
const TOKEN = /\s*(\d+(?:\.\d+)?|[A-Za-z_]\w*|&&|\|\||[=!<>]=|[-+*/^<>()[\],])/y;

const OPERATORS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  // Without a value where it divides by zero.
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

/** Loosest first. */
const PRECEDENCE = [['OR', '||'], ['AND', '&&'], ['==', '!=', '<=', '>=', '<', '>'], ['+', '-'], ['*', '/'], ['^']];

/** Of several series, one: period by period, over the values that there are. */
const AGGREGATES: Readonly<Record<string, (values: number[]) => number>> = {
  MAX: (values) => Math.max(...values),
  MIN: (values) => Math.min(...values),
  SUM: (values) => values.reduce((sum, value) => sum + value, 0),
};

/**
 * Reads a metric math expression: arithmetic, comparison and logical operators, FILL, IF, PERIOD, and MAX, MIN and SUM of
 * several series. It refuses what it does not know, and what makes no sense in an alarm: MAX, MIN or SUM of one series
 * depend on how many periods CloudWatch happens to read.
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
      if (token === undefined) throw this.error(`made of numbers, ids, operators and functions, at ${at}`);
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
    if (this.position < this.tokens.length) throw this.error(`at its end before ${JSON.stringify(this.peek())}`);
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
      if (then === undefined) throw this.error('one in which IF has a condition and a value');
      return (range) => choose(condition!(range), then(range), otherwise?.(range), range);
    }
    const aggregate = AGGREGATES[name];
    if (aggregate === undefined || operands.length !== 1) {
      throw this.error(`made of FILL, IF, PERIOD, MAX, MIN and SUM, not ${name}`);
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
    if (token === undefined) throw this.error('longer than that');
    return token;
  }

  private expect(token: string): void {
    if (this.peek() !== token) throw this.error(`one with ${token} instead of ${JSON.stringify(this.peek())}`);
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

/** "Missing values in a time series are treated as 0", where the other one has a value. */
function combine(a: Value, b: Value, operator: (a: number, b: number) => number): Value {
  if (typeof a === 'number' && typeof b === 'number') return operator(a, b);
  if (isSeveral(a)) return a.map((each) => combine(each, b, operator) as Series);
  if (isSeveral(b)) return b.map((each) => combine(a, each, operator) as Series);
  if (typeof a === 'number') return (b as Series).map((value) => (Number.isNaN(value) ? value : operator(a, value)));
  if (typeof b === 'number') return a.map((value) => (Number.isNaN(value) ? value : operator(value, b)));
  return a.map((value, period) => {
    const other = b[period]!;
    if (Number.isNaN(value) && Number.isNaN(other)) return Number.NaN;
    return operator(Number.isNaN(value) ? 0 : value, Number.isNaN(other) ? 0 : other);
  });
}

/** Without a filler the last value is repeated; periods before the first value stay without. */
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
  if (!isSeveral(value)) {
    throw new InvalidArgumentError(
      'Expression',
      name,
      'of several series: of one it depends on the range that is read',
    );
  }
  return value[0]!.map((_, period) => {
    const values = value.map((series) => series[period]!).filter((each) => !Number.isNaN(each));
    return values.length === 0 ? Number.NaN : aggregate(values);
  });
}

function asSeries(value: Value, { periods }: MathRange): Series {
  if (typeof value === 'number') return Array(periods).fill(value);
  if (isSeveral(value)) throw new InvalidArgumentError('Expression', 'several series', 'one series');
  return value;
}

function isSeveral(value: Value): value is readonly Series[] {
  return typeof value === 'object' && typeof value[0] === 'object';
}
