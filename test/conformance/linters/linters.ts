import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pythonOf, pythonWith } from '../../support/fetched';

/** A violated rule of a linter, with the resource type or the kind of interface that violates it. */
export interface Finding {
  readonly linter: 'cfn-lint' | 'checkov' | 'cfn-guard' | 'awslint';
  readonly rule: string;
  readonly type: string;
}

/** The folder of the cfn-guard validator with the rules of AWS Control Tower, from `npm run conformance linters`. */
export const CFN_GUARD = 'CFN_GUARD';

/** The folder of awslint, the linter for libraries of the CDK, from `npm run conformance linters`. */
export const AWSLINT = 'AWSLINT';

const ENVIRONMENT = 'linters-1.58.0-3.3.30';
const program = (name: string) => join(dirname(pythonOf(ENVIRONMENT)), name);

type Resources = Record<string, { Type: string }>;

/** Fetches cfn-lint and checkov into a cache at the first run. False without Python. */
export function fetchLinters(): boolean {
  return pythonWith(ENVIRONMENT, ['-r', join(__dirname, 'requirements.txt')], 'cfnlint, checkov') !== undefined;
}

export function cfnLint(template: string, resources: Resources): Finding[] {
  return cfnLintOf([template], () => resources);
}

function cfnLintOf(templates: readonly string[], resourcesOf: (template: string) => Resources): Finding[] {
  const found = json('cfn-lint', ['--format', 'json', '--', ...templates]) as {
    Rule: { Id: string };
    Filename: string;
    Location: { Path: string[] };
  }[];
  return found.map(({ Rule, Filename, Location: { Path } }) => {
    const type = Path[0] === 'Resources' ? resourcesOf(Filename)[Path[1]!]!.Type : (Path[0] ?? 'template');
    return { linter: 'cfn-lint', rule: Rule.Id, type };
  });
}

export function checkov(template: string): Finding[] {
  const options = ['--framework', 'cloudformation', '--skip-download', '--compact', '-o', 'json'];
  const { results, summary } = json('checkov', [...options, '-f', template]) as {
    results: { failed_checks: { check_id: string; resource: string }[] };
    summary: { parsing_errors: number };
  };
  if (summary.parsing_errors > 0) throw new Error(`checkov cannot read ${template}`);
  return results.failed_checks.map(({ check_id: rule, resource }) => ({
    linter: 'checkov',
    rule,
    type: resource.slice(0, resource.lastIndexOf('.')),
  }));
}

/** The findings of cfn-guard, through the validator of its package. */
export function cfnGuard(template: string, resources: Resources): Finding[] {
  const { CfnGuardValidator } = require(process.env[CFN_GUARD]!);
  const { violations } = new CfnGuardValidator().validate({ templatePaths: [template] }) as {
    violations: { ruleName: string; violatingResources: { resourceLogicalId: string }[] }[];
  };
  return violations.flatMap(({ ruleName: rule, violatingResources }) =>
    violatingResources.map(({ resourceLogicalId }) => ({
      linter: 'cfn-guard' as const,
      rule,
      type: resources[resourceLogicalId]!.Type,
    })),
  );
}

/** The violations of the rules for CDK libraries in the public API of the last build. */
export function awslint(): Finding[] {
  const bin = join(process.env[AWSLINT]!, 'bin', 'awslint.js');
  const { stdout, stderr } = spawnSync(process.execPath, [bin, '--no-compile', '--no-config'], { encoding: 'utf8' });
  const found = [...`${stdout}${stderr}`.matchAll(/^(?:error|warning): \[awslint:([\w-]+):([\w.-]+)\]/gm)];
  if (found.length === 0 && stderr !== '') throw new Error(`awslint printed no result: ${stderr}`);
  return found.map(([, rule, name]) => ({ linter: 'awslint', rule: rule!, type: kindOf(name!) }));
}

/** The kind of an interface: `Alarms` for `cdk-even-shards.StreamAlarms.skew`. */
function kindOf(name: string): string {
  const [, type = name] = name.split('.');
  return /Props$|Options$|Attributes$|Alarms$/.exec(type)?.[0] ?? type;
}

/** The findings of cfn-lint in many templates. One run for all templates is much faster. */
export function cfnLintAll(templates: readonly string[]): Finding[] {
  const resources = new Map(templates.map((each) => [each, JSON.parse(readFileSync(each, 'utf8')).Resources]));
  return cfnLintOf(templates, (template) => resources.get(template)!);
}

function json(name: string, linterArguments: string[]): unknown {
  const { stdout, stderr } = spawnSync(program(name), linterArguments, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`${name} printed no result: ${stderr}`);
  }
}
