import fc from 'fast-check';
import type { Resource } from '../../../lib/cloudformation/template';
import { deploymentFindings } from '../../../lib/deployment-check/deployment-findings';

/** An event source mapping in a template, by its logical id. */
interface Mapping {
  readonly function: 'F' | 'G';
  readonly source: 'Events' | 'Clicks';
  readonly position: 'LATEST' | 'TRIM_HORIZON';
}
type Mappings = Readonly<Record<string, Mapping>>;

const functionForms = [
  (id: string) => ({ Ref: id }),
  (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] }),
  (id: string) => ({ 'Fn::Join': ['', [{ 'Fn::GetAtt': [id, 'Arn'] }]] }),
];

function templateOf(mappings: Mappings, form: number): { Resources: Record<string, Resource> } {
  const others = ['F', 'G'].map((id) => [id, { Type: 'AWS::Lambda::Function', Properties: {} }] as const);
  const streams = ['Events', 'Clicks'].map((id) => [id, { Type: 'AWS::Kinesis::Stream', Properties: {} }] as const);
  const own = Object.entries(mappings).map(([id, { function: name, source, position }], index) => {
    const FunctionName = functionForms[(form + index) % functionForms.length]!(name);
    const Properties = { FunctionName, EventSourceArn: { 'Fn::GetAtt': [source, 'Arn'] }, StartingPosition: position };
    return [id, { Type: 'AWS::Lambda::EventSourceMapping', Properties }] as const;
  });
  return { Resources: Object.fromEntries([...others, ...streams, ...own]) };
}

const pairOf = ({ function: name, source }: Mapping) => `${name} ${source}`;

/**
 * A model of an update of a stack: creations, updates and replacements in any order, then deletions. Lambda rejects a
 * mapping whose function and source another mapping has. Returns whether Lambda rejects a step in any order.
 */
function canBeRejected(before: Mappings, after: Mappings): boolean {
  const steps = Object.keys(after).filter((id) => JSON.stringify(before[id]) !== JSON.stringify(after[id]));
  const isRejected = (order: readonly string[]) => {
    const pairs = new Map(Object.entries(before).map(([id, mapping]) => [id, pairOf(mapping)]));
    return order.some((id) => {
      const [old, next] = [before[id], after[id]!];
      const isUpdate = old !== undefined && old.source === next.source && old.position === next.position;
      if (isUpdate) pairs.delete(id);
      const isTaken = [...pairs.values()].includes(pairOf(next));
      pairs.set(isUpdate || old === undefined ? id : `new ${id}`, pairOf(next));
      return isTaken;
    });
  };
  return permutations(steps).some(isRejected);
}

function permutations(items: readonly string[]): string[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => permutations(items.filter((each) => each !== item)).map((rest) => [item, ...rest]));
}

const mapping = fc.record<Mapping>({
  function: fc.constantFrom('F', 'G'),
  source: fc.constantFrom('Events', 'Clicks'),
  position: fc.constantFrom('LATEST', 'TRIM_HORIZON'),
});
const mappings = fc.dictionary(fc.constantFrom('A', 'B', 'C'), mapping);
/** Mappings that Lambda accepts together. */
const accepted = mappings.filter((each) => new Set(Object.values(each).map(pairOf)).size === Object.keys(each).length);

test('check rejects an update of event source mappings exactly if Lambda can reject it in some order of the steps', () => {
  fc.assert(
    fc.property(accepted, mappings, fc.nat(2), fc.nat(2), (before, after, form, otherForm) => {
      const change = { stack: 'A', deployed: templateOf(before, form), synthesized: templateOf(after, otherForm) };
      const findings = deploymentFindings([change]);
      expect(findings.some(({ effect }) => effect === 'refused')).toBe(canBeRejected(before, after));
    }),
    { numRuns: 3_000, seed: 20_261_127 },
  );
});
