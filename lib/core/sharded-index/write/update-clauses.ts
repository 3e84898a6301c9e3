import { InvalidArgumentError } from '../../foundation/errors';

/** The actions of an update expression, by keyword. */
export type UpdateClauses = Record<'SET' | 'REMOVE' | 'ADD' | 'DELETE', string[]>;

/** A keyword. No attribute can have its name without a placeholder: the four are reserved words of DynamoDB. */
const KEYWORD = /(?<![#:.\w])(SET|REMOVE|ADD|DELETE)(?=\s)/gi;

/** The top-level attribute, or its placeholder, that an action begins with. */
const ATTRIBUTE = /^[^\s=.[]+/;

/**
 * The clauses of an update expression.
 *
 * @throws InvalidArgumentError for a text that is no update expression, or that has a clause twice
 */
export function updateClauses(expression = ''): UpdateClauses {
  const clauses: UpdateClauses = { SET: [], REMOVE: [], ADD: [], DELETE: [] };
  const refuse = (): never => {
    const allowed = 'SET, REMOVE, ADD and DELETE clauses, each once and with at least one action';
    throw new InvalidArgumentError('expression.UpdateExpression', expression, allowed);
  };
  if (typeof expression !== 'string') refuse();
  if (expression === '') return clauses;
  const [before, ...parts] = expression.split(KEYWORD);
  if (before!.trim() !== '' || parts.length === 0) refuse();
  for (let index = 0; index < parts.length; index += 2) {
    const keyword = parts[index]!.toUpperCase() as keyof UpdateClauses;
    const actions = commaSeparated(parts[index + 1]!);
    if (clauses[keyword].length > 0 || !actions.every((action) => ATTRIBUTE.test(action))) refuse();
    clauses[keyword] = actions;
  }
  return clauses;
}

/** The top-level attributes that clauses change. */
export function changedAttributes(clauses: UpdateClauses, names: Record<string, string> = {}): string[] {
  return Object.values(clauses)
    .flat()
    .map((action) => {
      const attribute = ATTRIBUTE.exec(action)![0];
      return attribute.startsWith('#') ? (names[attribute] ?? attribute) : attribute;
    });
}

/** The parts between the commas that stand in no parentheses. */
function commaSeparated(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}
