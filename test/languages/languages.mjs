import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const { version, devDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url)));

/** The oldest CDK that the package supports. */
const OLDEST = { version: devDependencies['aws-cdk-lib'], constructs: devDependencies.constructs };

/** The version of the CDK's bindings for Go in go/go.mod, which says why. */
const FOR_GO = { version: '2.260.0', constructs: '10.6.0' };

/**
 * For each language: the commands that show that its tools are there, what jsii-pacmak needs besides, and its apps, each
 * with the version of the CDK that it uses.
 */
export const LANGUAGES = {
  python: {
    tools: [['python3', '-m', 'venv', '--help']],
    apps: ({ folder, packages, run }) => [
      {
        cdk: OLDEST,
        synthesize(env) {
          const [wheel] = readdirSync(join(packages, 'python')).filter((file) => file.endsWith('.whl'));
          const python = join(folder, 'bin/python');
          run('python3', ['-m', 'venv', folder]);
          const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
          run(python, [...pip, `aws-cdk-lib==${OLDEST.version}`, `constructs==${OLDEST.constructs}`]);
          run(python, [...pip, '--force-reinstall', '--no-deps', join(packages, 'python', wheel)]);
          run(python, ['test/languages/python/app.py'], { env });
        },
      },
    ],
  },
  java: {
    tools: [
      ['javac', '-version'],
      ['mvn', '--version'],
    ],
    // Without a version of the CDK, Maven takes the newest that the range of the package's POM allows.
    apps: ({ folder, packages, run }) =>
      [OLDEST].map((cdk) => ({
        cdk,
        synthesize(env) {
          const project = join(folder, cdk.version);
          mkdirSync(folder, { recursive: true });
          cpSync('test/languages/java', project, { recursive: true });
          const properties = {
            'packages.directory': join(packages, 'java'),
            'even-shards.version': version,
            'cdk.version': cdk.version,
            'constructs.version': cdk.constructs,
          };
          const settings = Object.entries(properties).map(([name, value]) => `-D${name}=${value}`);
          // Map.of has an order of its own in each process: twice, to see that it does not matter.
          for (let times = 0; times < 2; times++) {
            run('mvn', ['--batch-mode', '--quiet', '--file', project, ...settings, 'compile', 'exec:java'], { env });
          }
        },
      })),
  },
  go: {
    tools: [['go', 'version']],
    // Its build would take the very versions of the bindings that the module proxy does not have.
    pacmak: ['--code-only'],
    apps: ({ folder, run }) => [
      {
        cdk: FOR_GO,
        synthesize(env) {
          const app = join(folder, 'app');
          mkdirSync(folder, { recursive: true });
          run('go', ['-C', 'test/languages/go', 'build', '-o', app, '.']);
          run(app, [], { env });
        },
      },
    ],
  },
  dotnet: {
    tools: [['dotnet', '--version']],
    apps: ({ folder, packages, run }) => [
      {
        cdk: OLDEST,
        synthesize(env) {
          const versions = [`-p:EvenShardsVersion=${version}`, `-p:CdkVersion=${OLDEST.version}`];
          const source = `-p:RestoreAdditionalProjectSources=${join(packages, 'dotnet')}`;
          const build = ['build', 'test/languages/dotnet', '--nologo', '--output', folder, ...versions, source];
          run('dotnet', build);
          run('dotnet', [join(folder, 'Languages.dll')], { env });
        },
      },
    ],
  },
};
