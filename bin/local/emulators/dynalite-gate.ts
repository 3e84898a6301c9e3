import type { RequestListener, Server } from 'node:http';
import type { JsonItem } from '../json-item';
import { singleWrites, storedItem, TableShapes, type Write, writeLoads } from '../limits/table-shapes';
import { withIndexUnits } from './consumed-capacity';
import { expressionLimitProblem } from './expression-limits';
import {
  APIS,
  type Call,
  EVERY_OPERATION,
  type Forward,
  gatedService,
  invalid,
  refusal,
  Service,
  type ServiceAnswer,
  type ServiceCall,
} from './gated-service';
import { connectionTo } from './in-memory-connection';
import { itemProblem, updateProblem } from './item-rules';
import { selectProblem } from './select-rules';
import { withTableNames } from './table-arns';
import { TableSettings } from './table-settings';
import { TableStreams } from './table-streams';
import { Transactions } from './transactions';
import { Turns } from './turns';

const NO_PARTIQL =
  'dynalite has no PartiQL: use --dynamodb-endpoint with an emulator that has it, such as DynamoDB Local';

const NO_INDEX_CHANGES =
  'dynalite adds and deletes no index of an existing table: use --dynamodb-endpoint with an emulator that does, such as DynamoDB Local';

/** The reason why dynalite cannot answer a request. dynalite itself would ignore a new index. */
function missingFeature(
  operation: string,
  { GlobalSecondaryIndexUpdates: updates = [] }: JsonItem,
): string | undefined {
  if (operation.includes('Execute')) return NO_PARTIQL;
  const changesIndexes = [updates].flat().some((update) => Object(update).Update === undefined);
  return operation === 'UpdateTable' && changesIndexes ? NO_INDEX_CHANGES : undefined;
}

/** Serves dynalite, which does not listen itself, behind its gate. */
export function servedDynalite(dynalite: Server): RequestListener {
  const service = new Service(APIS.dynamodb, { createConnection: () => connectionTo(dynalite) });
  return gatedService(service, EVERY_OPERATION, new DynaliteGate(service.call).pass);
}

/** Adds to dynalite what it lacks of DynamoDB. */
class DynaliteGate {
  /** Other requests wait while a transaction runs, so that they never read a partial transaction. */
  private readonly turns = new Turns();
  private readonly transactions: Transactions;
  private readonly tables: TableShapes;
  private readonly settings: TableSettings;
  private readonly streams: TableStreams;

  constructor(private readonly call: Call) {
    this.tables = new TableShapes(call);
    this.settings = new TableSettings(call);
    this.streams = new TableStreams(call);
    this.transactions = new Transactions((operation, input) =>
      this.checked(operation, input as JsonItem, (changed) => call(operation, changed)),
    );
  }

  readonly pass = (call: ServiceCall, forward: Forward): Promise<ServiceAnswer> =>
    withTableNames(call.input, (input) => this.named(call.operation, input, forward));

  private async named(operation: string, input: JsonItem, forward: Forward): Promise<ServiceAnswer> {
    const missing = missingFeature(operation, input);
    if (missing !== undefined) return refusal('com.amazon.coral.service#UnknownOperationException', missing);
    const problem = expressionLimitProblem(input);
    if (problem !== undefined) return invalid(problem);
    if (operation === 'TransactWriteItems') {
      return this.turns.alone(() => this.recorded(operation, input, () => this.transactions.write(input)));
    }
    if (operation === 'TransactGetItems') return this.turns.alone(() => this.transactions.get(input));
    if (operation.endsWith('Table')) this.tables.forget(input.TableName ?? '');
    const run = () =>
      this.settings.answer(operation, input) ??
      this.streams.answer(operation, input, forward) ??
      this.recorded(operation, input, () => this.checked(operation, input, forward));
    const isAlone = singleWrites(operation, input).some(
      ([, { TableName }]) => isObserved(input) || this.streams.hasStream(TableName),
    );
    return isAlone ? this.turns.alone(run) : this.turns.beside(run);
  }

  /** Runs a request. If the request writes items, adds the changes to the streams of the tables. */
  private async recorded(
    operation: string,
    input: JsonItem,
    run: () => Promise<ServiceAnswer>,
  ): Promise<ServiceAnswer> {
    const writes = await this.writesOf(operation, input);
    const places = writes.map(({ input: { TableName }, key }) => ({ TableName, key }));
    return places.some(({ TableName }) => this.streams.hasStream(TableName))
      ? this.streams.recorded(places, run)
      : run();
  }

  private async checked(operation: string, input: JsonItem, forward: Forward): Promise<ServiceAnswer> {
    const writes = await this.writesOf(operation, input);
    for (const write of writes) {
      const problem = await this.writeProblem(write);
      if (problem !== undefined) return invalid(problem);
    }
    if (operation === 'DeleteItem' && !['NONE', 'ALL_OLD'].includes(input.ReturnValues ?? 'NONE')) {
      return invalid('Return values set to invalid value');
    }
    const table =
      operation === 'Query' || operation === 'Scan' ? await this.tables.of(input.TableName ?? '') : undefined;
    const problem = table && selectProblem(table, input, operation === 'Scan');
    if (problem !== undefined) return invalid(problem);
    if (writes.length > 0 && isObserved(input)) return this.observed(writes, input, forward);
    const answer = await forward(input);
    return operation === 'UpdateItem' ? withoutEmptyAttributes(answer) : answer;
  }

  /** The writes of a request. Empty for a read, and for a request that dynalite rejects. */
  private async writesOf(operation: string, input: JsonItem): Promise<Write[]> {
    const singles = singleWrites(operation, input).map((single) => this.tables.write(...single));
    return (await Promise.all(singles)).filter((write) => write !== undefined);
  }

  private async writeProblem({ operation, table, key, input }: Write): Promise<string | undefined> {
    return operation === 'UpdateItem'
      ? updateProblem(table, input, () => storedItem(this.call, input.TableName, key))
      : itemProblem(table, input.Item);
  }

  /** Reads the items before and after the writes, for the units of indexes and for the item of a failed condition. */
  private async observed(writes: readonly Write[], input: JsonItem, forward: Forward): Promise<ServiceAnswer> {
    const before: (JsonItem | undefined)[] = [];
    for (const write of writes) before.push(await storedItem(this.call, write.input.TableName, write.key));
    const answer = withoutEmptyAttributes(await forward(input));
    const { output } = answer;
    if (answer.status !== 200) {
      const isFailed = output.__type?.endsWith('#ConditionalCheckFailedException') && before[0] !== undefined;
      const isReturned = isFailed && input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD';
      return isReturned ? { ...answer, output: { ...output, Item: before[0] } } : answer;
    }
    if (output.ConsumedCapacity === undefined) return answer;
    const capacities: JsonItem[] = [];
    for (const capacity of [output.ConsumedCapacity].flat()) {
      const loads = await Promise.all(
        writes.map(async ({ table, key, input: { TableName } }, index) =>
          TableName === capacity.TableName
            ? writeLoads(table, before[index], await storedItem(this.call, TableName, key))
            : [],
        ),
      );
      capacities.push(withIndexUnits(capacity, loads.flat(), input.ReturnConsumedCapacity));
    }
    const ConsumedCapacity = Array.isArray(output.ConsumedCapacity) ? capacities : capacities[0];
    return { ...answer, output: { ...output, ConsumedCapacity } };
  }
}

/** Whether the response needs the items before and after the writes. */
function isObserved({
  ReturnConsumedCapacity: capacity,
  ReturnValuesOnConditionCheckFailure: item,
}: JsonItem): boolean {
  return item === 'ALL_OLD' || capacity === 'TOTAL' || capacity === 'INDEXES';
}

/** DynamoDB omits the attributes of an update that has changed no attribute. */
function withoutEmptyAttributes(answer: ServiceAnswer): ServiceAnswer {
  const { Attributes, ...output } = answer.output;
  return Attributes !== undefined && Object.keys(Attributes).length === 0 ? { ...answer, output } : answer;
}
