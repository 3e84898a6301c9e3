import {
  listOf,
  ownResource,
  type Properties,
  type Resource,
  TABLE_TYPES,
  type Template,
} from '../../lib/cloudformation/template';
import { driftFinding } from '../../lib/deployment-check/drift-finding';
import { type Finding, finding } from '../../lib/deployment-check/finding';
import { settingText } from '../../lib/deployment-check/update-effects';
import { type ResourceState, STREAM_TYPE } from '../deployed-stack/resource-state';

/**
 * Returns the deployed template with the real state of the account. Each table has the indexes that exist in the
 * account. If the deployment changes the shard count of a stream or the warm throughput of a table or an index, it has the
 * present value.
 *
 * @param revertsDrift whether the deployment sets each warm throughput that differs from the template
 */
export function withState(
  deployed: Template,
  synthesized: Template,
  states: readonly ResourceState[],
  revertsDrift: boolean,
): Template {
  const Resources: Record<string, Resource> = { ...deployed.Resources };
  for (const { logicalId, stream, table } of states) {
    const [before, next] = [ownResource(deployed, logicalId), ownResource(synthesized, logicalId)];
    if (before === undefined) continue;
    const { Properties = {} } = before;
    const changed: Record<string, unknown> = { ...Properties };
    const isUpdated = (property: string, from: Properties, to: Properties = {}) =>
      settingText(from[property]) !== settingText(to[property]);
    const isCountChanged = next !== undefined && isUpdated('ShardCount', Properties, next.Properties);
    if (stream?.OpenShardCount !== undefined && isCountChanged) changed.ShardCount = stream.OpenShardCount;
    if (table !== undefined) {
      const warm = (from: Properties, to: Properties | undefined, { WarmThroughput: present }: Warm): object =>
        present !== undefined && (revertsDrift || isUpdated('WarmThroughput', from, to))
          ? { WarmThroughput: present }
          : {};
      Object.assign(changed, warm(Properties, next?.Properties, table));
      changed.GlobalSecondaryIndexes = indexesOf(Properties, next?.Properties, table).map((index) => {
        const named = <T extends Index>(indexes: unknown) =>
          listOf<T>(indexes).find((each) => each.IndexName === index.IndexName);
        const to = named<Index>(next?.Properties?.GlobalSecondaryIndexes);
        return { ...index, ...warm(index, to, named<Index & Warm>(table.GlobalSecondaryIndexes) ?? {}) };
      });
    }
    Resources[logicalId] = { ...before, Properties: changed };
  }
  return { ...deployed, Resources };
}

/** The warm throughput of a table or an index in its description. */
type Warm = { readonly WarmThroughput?: object | undefined };

type Index = Properties & { readonly IndexName?: unknown };

/** The existing indexes of the table: indexes of its template, and indexes that were added outside the stack. */
function indexesOf(
  deployed: Properties,
  synthesized: Properties = {},
  { GlobalSecondaryIndexes: there = [] }: NonNullable<ResourceState['table']>,
): Index[] {
  const [before, next] = [deployed, synthesized].map((table) => listOf<Index>(table.GlobalSecondaryIndexes)) as [
    readonly Index[],
    readonly Index[],
  ];
  const isThere = ({ IndexName }: Index) => there.some((index) => index.IndexName === IndexName);
  const added = next.filter(
    (index) => isThere(index) && !before.some(({ IndexName }) => IndexName === index.IndexName),
  );
  return [...before.filter(isThere), ...added];
}

/** Findings about resources whose state in the account would make a deployment fail. */
export function stateFindings(stack: string, deployed: Template, states: readonly ResourceState[]): Finding[] {
  return states.flatMap((state) => {
    const place = { stack, logicalId: state.logicalId };
    const type = ownResource(deployed, state.logicalId)?.Type ?? '';
    const kind = type === STREAM_TYPE ? 'stream' : TABLE_TYPES.includes(type) ? 'table' : undefined;
    if (kind === undefined) return [];
    if (state.stream === undefined && state.table === undefined) {
      const text =
        `the ${kind} of the template is not in the account: it was deleted, and an update fails. Create it again ` +
        'with its name, or remove it from the stack and add it again in a later deployment.';
      return [finding(place, 'Deployment.gone', 'refused', 'prepare', text)];
    }
    return busy(state).map((what) => {
      const text = `${what}: an update fails until it is ACTIVE. Wait for that before the deployment.`;
      return finding(place, 'Deployment.busy', 'refused', 'prepare', text);
    });
  });
}

/** Findings about streams whose number of open shards a deployment that reverts drift would change. */
export function driftFindings(
  stack: string,
  deployed: Template,
  synthesized: Template,
  states: readonly ResourceState[],
): Finding[] {
  return states.flatMap(({ logicalId, stream }) => {
    const [before, next] = [deployed, synthesized].map(
      (template) => ownResource(template, logicalId)?.Properties?.ShardCount,
    );
    const open = stream?.OpenShardCount;
    if (open === undefined || typeof next !== 'number' || next === open || before !== next) return [];
    return [driftFinding({ stack, logicalId }, open, next)];
  });
}

function busy({ stream, table }: ResourceState): string[] {
  const isBusy = (status: string | undefined) => status !== undefined && status !== 'ACTIVE';
  const of = (what: string, status: string | undefined) => (isBusy(status) ? [`${what} is ${status}`] : []);
  return [
    ...of('the stream', stream?.StreamStatus),
    ...of('the table', table?.TableStatus),
    ...(table?.GlobalSecondaryIndexes ?? []).flatMap(({ IndexName, IndexStatus }) =>
      of(`index ${IndexName}`, IndexStatus),
    ),
  ];
}
