import { readFileSync } from 'node:fs';
import { jsii, name, version } from '../../../package.json';

/**
 * The names of the package in the registries. `npm run languages` cannot check them, because it installs the packages from
 * local folders instead of registries.
 */
const { python, java, go, dotnet } = jsii.targets;
const { groupId, artifactId } = java.maven;

test.each([
  ['typescript', [`npm install ${name} `, `from '${name}'`]],
  ['python', [`pip install ${python.distName} `, `from ${python.module} import`]],
  [
    'java',
    [`<artifactId>${artifactId}</artifactId>`, `<groupId>${groupId}</groupId>`, `<version>${version}</version>`],
  ],
  ['java', [`import ${java.package}.`]],
  ['csharp', [`package ${dotnet.packageId}\n`, `using ${dotnet.namespace};`]],
  ['go', [`"${go.moduleName}/${go.packageName}"`]],
])('the start page for %s has the names of the package in this language', (page, names) => {
  const text = readFileSync(`docs/start/${page}.md`, 'utf8');
  expect(names.filter((each) => !text.includes(each))).toEqual([]);
});

test.each(['typescript', 'python', 'java', 'csharp', 'go'])(
  'the start page for %s has --app in each CDK command, because its project has no cdk.json',
  (page) => {
    const commands = readFileSync(`docs/start/${page}.md`, 'utf8').match(/\bcdk (?:synth|deploy)\b[^`\n]*/g)!;
    expect(commands).toHaveLength(2);
    for (const command of commands) expect(command).toContain(' --app ');
  },
);
