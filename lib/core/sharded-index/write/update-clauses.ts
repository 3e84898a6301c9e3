import { InvalidArgumentError } from '../../kernel/errors';

const KEYWORDS = ['SET', 'REMOVE', 'ADD', 'DELETE'] as const;

type Keyword = (typeof KEYWORDS)[number];

/**
 * One action of a clause: its text, and the top-level attribute that it changes, or the placeholder of that attribute.
 */
export interface UpdateAction {
  attribute: string;
  text: string;
}

/** The actions of an update expression, by keyword. */
export type UpdateClauses = Record<Keyword, UpdateAction[]>;

/**
 * Parses an update expression with the grammar that DynamoDB documents. Any other text is rejected, because its changed
 * attributes would be unknown. Source: the DynamoDB developer guide, "Using update expressions".
 *
 * @throws InvalidArgumentError if the text is not an update expression, or has a clause twice
 */
export function updateClauses(expression = ''): UpdateClauses {
  const clauses: UpdateClauses = { SET: [], REMOVE: [], ADD: [], DELETE: [] };
  if (expression === '') return clauses;
  const tokens = new Tokens(expression);
  do {
    const clause = clauses[tokens.keyword()];
    if (clause.length > 0) tokens.reject();
    const action = clause === clauses.SET ? assignment : clause === clauses.REMOVE ? path : pathAndValue;
    do clause.push(tokens.text(action));
    while (tokens.skip(','));
  } while (!tokens.atEnd);
  return clauses;
}

export function changedAttributes(clauses: UpdateClauses, names: Record<string, string> = {}): string[] {
  return Object.values(clauses)
    .flat()
    .map(({ attribute }) => names[attribute] ?? attribute);
}

/** The tokens: white space, a placeholder, a name, the index of a list element, or a sign. */
const TOKEN = /[ \t\r\n]+|([#:]\w+|[A-Za-z]\w*|\d+|[-=+,.()[\]])/y;
const NAME = /^[#A-Za-z]/;
const INDEX = /^\d/;

/** Reads tokens from left to right. White space only separates tokens. */
class Tokens {
  private readonly tokens: { token: string; begin: number; end: number }[] = [];
  private at = 0;

  constructor(private readonly expression: string) {
    if (typeof expression !== 'string') this.reject();
    let end = 0;
    while (end < expression.length) {
      TOKEN.lastIndex = end;
      const match = TOKEN.exec(expression) ?? this.reject();
      if (match[1] !== undefined) this.tokens.push({ token: match[1], begin: end, end: TOKEN.lastIndex });
      end = TOKEN.lastIndex;
    }
  }

  get atEnd(): boolean {
    return this.at === this.tokens.length;
  }

  /** Skips the next token if it equals `token`. Returns whether it skipped the token. */
  skip(token: string): boolean {
    const isNext = this.tokens[this.at]?.token === token;
    if (isNext) this.at += 1;
    return isNext;
  }

  expect(token: string): void {
    if (!this.skip(token)) this.reject();
  }

  keyword(): Keyword {
    const keyword = this.next().toUpperCase() as Keyword;
    return KEYWORDS.includes(keyword) ? keyword : this.reject();
  }

  /**
   * Reads a name, or the placeholder of a name. A name cannot be one of the four keywords, because they are reserved
   * words of DynamoDB.
   */
  name(): string {
    const token = this.next();
    return NAME.test(token) && !KEYWORDS.includes(token.toUpperCase() as Keyword) ? token : this.reject();
  }

  /** Skips the placeholder of a value. Returns false if the next token is another token. */
  skipValue(): boolean {
    const isNext = this.tokens[this.at]?.token.startsWith(':') === true;
    if (isNext) this.at += 1;
    return isNext;
  }

  index(): void {
    if (!INDEX.test(this.next())) this.reject();
  }

  /** Applies a rule of the grammar. Returns the text that the rule reads, and the attribute at the beginning of the text. */
  text(rule: (tokens: Tokens) => string): UpdateAction {
    const first = this.tokens[this.at];
    const attribute = rule(this);
    return { attribute, text: this.expression.slice(first!.begin, this.tokens[this.at - 1]!.end) };
  }

  reject(): never {
    const allowed =
      'SET, REMOVE, ADD and DELETE clauses as DynamoDB documents them, each once and with at least one action';
    throw new InvalidArgumentError('expression.UpdateExpression', this.expression, allowed);
  }

  private next(): string {
    const next = this.tokens[this.at] ?? this.reject();
    this.at += 1;
    return next.token;
  }
}

/** Reads a path such as `#a.b[1]`, and returns its top-level attribute. */
function path(tokens: Tokens): string {
  const attribute = tokens.name();
  pathFrom(tokens);
  return attribute;
}

function pathFrom(tokens: Tokens): void {
  for (;;) {
    if (tokens.skip('.')) {
      tokens.name();
    } else if (tokens.skip('[')) {
      tokens.index();
      tokens.expect(']');
    } else {
      return;
    }
  }
}

function pathAndValue(tokens: Tokens): string {
  const attribute = path(tokens);
  if (!tokens.skipValue()) tokens.reject();
  return attribute;
}

/** Reads an assignment such as `version = if_not_exists(version, :zero) + :one`. */
function assignment(tokens: Tokens): string {
  const attribute = path(tokens);
  tokens.expect('=');
  sum(tokens);
  return attribute;
}

function sum(tokens: Tokens): void {
  operand(tokens);
  if (tokens.skip('+') || tokens.skip('-')) operand(tokens);
}

/** Reads a value, a path, a function of operands, or one of these in parentheses. */
function operand(tokens: Tokens): void {
  if (tokens.skipValue()) return;
  if (tokens.skip('(')) {
    sum(tokens);
    tokens.expect(')');
    return;
  }
  tokens.name();
  if (!tokens.skip('(')) {
    pathFrom(tokens);
    return;
  }
  do operand(tokens);
  while (tokens.skip(','));
  tokens.expect(')');
}
