import type { RequestListener, Server } from 'node:http';
import { expressionLimitProblem } from './expression-limits';
import {
  APIS,
  type Call,
  type Forward,
  gatedService,
  refusal,
  Service,
  type ServiceAnswer,
  type ServiceCall,
} from './gated-service';
import { connectionTo } from './in-memory-connection';
import { Transactions } from './transactions';
import { Turns } from './turns';

/** The operations that the gate handles. All other operations pass unchanged. */
export const GATED_BY_DYNALITE: ReadonlySet<string> = new Set([
  ...['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems'],
  ...['GetItem', 'BatchGetItem', 'TransactGetItems', 'Query', 'Scan'],
]);

/** Serves dynalite, which does not listen itself, behind its gate. */
export function servedDynalite(dynalite: Server): RequestListener {
  const service = new Service(APIS.dynamodb, { createConnection: () => connectionTo(dynalite) });
  return gatedService(service, GATED_BY_DYNALITE, new DynaliteGate(service.call).pass);
}

/** Adds to dynalite what it lacks of DynamoDB. */
export class DynaliteGate {
  /** Other requests wait while a transaction runs, so that they never read a partial transaction. */
  private readonly turns = new Turns();
  private readonly transactions: Transactions;

  constructor(call: Call) {
    this.transactions = new Transactions(call);
  }

  readonly pass = async ({ operation, input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> => {
    const problem = expressionLimitProblem(input);
    if (problem !== undefined) return refusal('com.amazon.coral.validate#ValidationException', problem);
    if (operation === 'TransactWriteItems') return this.turns.alone(() => this.transactions.write(input));
    if (operation === 'TransactGetItems') return this.turns.alone(() => this.transactions.get(input));
    return this.turns.beside(() => forward(input));
  };
}
