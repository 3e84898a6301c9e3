import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { Account, CREDENTIALS, fetchEmulator, REGION } from './account';

/**
 * The emulator of CloudFormation, held against the user guide of CloudFormation: what a custom resource is asked, and what becomes of its
 * answers. No provider framework stands between them, so that an answer may be missing.
 */

/** Writes down what it is asked, and answers as the properties of the resource say. */
const FUNCTION = `
const { appendFileSync } = require('node:fs');
const https = require('node:https');
exports.handler = (event) => new Promise((done) => {
  const { RequestType, PhysicalResourceId = 'nothing', ResponseURL, ResourceProperties } = event;
  const { Id, Status = 'SUCCESS', Length = 0, NoEcho, Noted, SilentOn = '' } = ResourceProperties;
  appendFileSync(process.env.ASKED, RequestType + ' ' + PhysicalResourceId + ' as ' + (Noted ? JSON.stringify(Noted) : Id) + '\\n');
  if (SilentOn.includes(RequestType)) return done();
  const isDelete = RequestType === 'Delete';
  const body = JSON.stringify({
    Status: isDelete ? 'SUCCESS' : Status,
    Reason: 'as asked',
    PhysicalResourceId: isDelete ? PhysicalResourceId : Id,
    Data: { text: 'secret' + 'x'.repeat(Number(Length)) },
    NoEcho: NoEcho === 'true',
  });
  const headers = { 'content-length': body.length };
  https.request({ path: new URL(ResponseURL).pathname, method: 'PUT', headers }, () => done()).end(body);
});
`;

const A_TEST = 120_000;

interface Properties {
  /** None: the answer has no id. */
  Id?: string;
  Status?: 'FAILED';
  /** How much longer the answer is. */
  Length?: number;
  NoEcho?: boolean;
  /** What the function writes down in place of the id. */
  Noted?: unknown;
  /** The requests that get no answer. */
  SilentOn?: ('Create' | 'Update' | 'Delete')[];
  /** In seconds. */
  ServiceTimeout?: number;
}

type Resources = Record<string, { Properties: Properties; DependsOn?: string; DeletionPolicy?: 'Retain' }>;

const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('CloudFormation', () => {
  let account: Account;
  let cloudFormation: CloudFormation;
  let folder: string;
  let asked: string;
  let changeSets = 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'even-shards-cloudformation-'));
    asked = join(folder, 'asked');
    account = await Account.open();
    cloudFormation = new CloudFormation({ region: REGION, credentials: CREDENTIALS, endpoint: account.endpoint });
  }, A_TEST);

  afterAll(async () => {
    cloudFormation?.destroy();
    await account?.close();
    rmSync(folder, { recursive: true });
  }, A_TEST);

  function templateOf(resources: Resources): object {
    const assumed = { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' };
    const Role = { Type: 'AWS::IAM::Role', Properties: { AssumeRolePolicyDocument: { Statement: [assumed] } } };
    const Properties = {
      ...{ Code: { ZipFile: FUNCTION }, Handler: 'index.handler', Runtime: 'nodejs24.x', Timeout: 60 },
      ...{ Role: { 'Fn::GetAtt': ['Role', 'Arn'] }, Environment: { Variables: { ASKED: asked } } },
    };
    const things = Object.entries(resources).map(([name, { Properties, ...more }]) => {
      const ServiceToken = { 'Fn::GetAtt': ['Function', 'Arn'] };
      return [name, { Type: 'Custom::Thing', Properties: { ServiceToken, ...Properties }, ...more }];
    });
    return {
      Resources: { Role, Function: { Type: 'AWS::Lambda::Function', Properties }, ...Object.fromEntries(things) },
      Outputs: {
        Text: { Value: { 'Fn::Join': ['', ['text: ', { 'Fn::GetAtt': [Object.keys(resources)[0], 'text'] }]] } },
      },
    };
  }

  /** Waits for the end of a deployment; returns the status, what the function was asked, and the output. */
  async function endOf(StackName: string) {
    for (;;) {
      const { Stacks = [] } = await cloudFormation.describeStacks({ StackName });
      const { StackStatus, Outputs } = Stacks[0]!;
      if (StackStatus!.endsWith('_IN_PROGRESS')) await sleep(50);
      else {
        const lines = readFileSync(asked, 'utf8').trimEnd().split('\n');
        return { status: StackStatus, asked: lines, output: Outputs?.[0]?.OutputValue };
      }
    }
  }

  async function deploy(StackName: string, resources: Resources, isNew = true) {
    writeFileSync(asked, '');
    const named = { StackName, ChangeSetName: `change-${changeSets++}` };
    const TemplateBody = JSON.stringify(templateOf(resources));
    await cloudFormation.createChangeSet({ ...named, TemplateBody, ChangeSetType: isNew ? 'CREATE' : 'UPDATE' });
    await cloudFormation.executeChangeSet(named);
    return endOf(StackName);
  }

  const update = (stackName: string, resources: Resources) => deploy(stackName, resources, false);
  const one = (Properties: Properties): Resources => ({ Thing: { Properties } });

  test(
    'creates a resource after those that it needs, and hands over each number and boolean as text',
    async () => {
      const resources: Resources = {
        Third: { Properties: { Id: 'c', Noted: { after: { 'Fn::GetAtt': ['Second', 'text'] } } } },
        Second: { Properties: { Id: 'b' }, DependsOn: 'First' },
        First: { Properties: { Id: 'a', Noted: [1, true] } },
      };
      expect(await deploy('Ordered', resources)).toEqual({
        status: 'CREATE_COMPLETE',
        asked: ['Create nothing as ["1","true"]', 'Create nothing as b', 'Create nothing as {"after":"secret"}'],
        output: 'text: secret',
      });
    },
    A_TEST,
  );

  test(
    'asks nothing of a resource that stays, and deletes what another id replaces when all is done',
    async () => {
      const stays = { Stays: { Properties: { Id: 'stays' } } };
      await deploy('Replaced', { ...one({ Id: 'a' }), ...stays });
      const next = { ...one({ Id: 'b' }), ...stays, New: { Properties: { Id: 'new' }, DependsOn: 'Thing' } };
      expect(await update('Replaced', next)).toMatchObject({
        status: 'UPDATE_COMPLETE',
        asked: ['Update a as b', 'Create nothing as new', 'Delete a as a'],
      });
    },
    A_TEST,
  );

  test(
    'goes back in the other order when a step fails, and deletes what has an id',
    async () => {
      const [first, second] = [one({ Id: 'a' }), { Second: { Properties: { Id: 'b' }, DependsOn: 'Thing' } }];
      await deploy('RolledBack', { ...first, ...second });
      const next: Resources = {
        ...one({ Id: 'c' }),
        Second: { Properties: { Id: 'b', Length: 1 }, DependsOn: 'Thing' },
        Fails: { Properties: { Id: 'd', Status: 'FAILED' }, DependsOn: 'Second' },
      };
      expect(await update('RolledBack', next)).toMatchObject({
        status: 'UPDATE_ROLLBACK_COMPLETE',
        asked: [
          ...['Update a as c', 'Update b as b', 'Create nothing as d'],
          ...['Update b as b', 'Update c as a', 'Delete c as c', 'Delete d as d'],
        ],
      });
    },
    A_TEST,
  );

  test.each([
    ['fails without an id', { Status: 'FAILED' }, ['Create nothing as undefined']],
    ['is longer than 4096 bytes', { Id: 'long', Length: 4_096 }, ['Create nothing as long']],
  ] as const)(
    'does not ask to delete what was never created: an answer that %s',
    async (name, properties, requests) => {
      const end = await deploy(name.replaceAll(' ', '-'), one(properties));
      expect(end).toMatchObject({ status: 'ROLLBACK_COMPLETE', asked: requests });
    },
    A_TEST,
  );

  test(
    'keeps what is to be retained',
    async () => {
      const kept: Resources = { Kept: { Properties: { Id: 'kept' }, DeletionPolicy: 'Retain' } };
      await deploy('Retained', { ...one({ Id: 'a' }), ...kept });
      expect(await update('Retained', one({ Id: 'a' }))).toMatchObject({ status: 'UPDATE_COMPLETE', asked: [''] });
    },
    A_TEST,
  );

  test(
    'waits for an answer until the time-out of the resource, and goes back',
    async () => {
      const silent = { Id: 'a', SilentOn: ['Create' as const], ServiceTimeout: 1 };
      const created = await deploy('Silent', one(silent));
      expect(created.status).toBe('ROLLBACK_COMPLETE');
      expect(created.asked).toEqual(['Create nothing as a', expect.stringMatching(/^Delete (?!nothing)\S+ as a$/)]);

      await deploy('SilentLater', one({ Id: 'a' }));
      const end = await update('SilentLater', one({ Id: 'b', SilentOn: ['Update'], ServiceTimeout: 1 }));
      expect(end).toMatchObject({
        status: 'UPDATE_ROLLBACK_COMPLETE',
        asked: ['Update a as b', 'Update a as a'],
      });
    },
    A_TEST,
  );

  test(
    'fails to roll back, and to delete, what does not answer then',
    async () => {
      const silent = { Id: 'a', ServiceTimeout: 1 };
      const end = await deploy('SilentAtEnd', one({ ...silent, Status: 'FAILED', SilentOn: ['Delete'] }));
      expect(end.status).toBe('ROLLBACK_FAILED');

      await deploy('SilentOnDelete', one({ ...silent, SilentOn: ['Delete'] }));
      await cloudFormation.deleteStack({ StackName: 'SilentOnDelete' });
      expect((await endOf('SilentOnDelete')).status).toBe('DELETE_FAILED');
    },
    A_TEST,
  );

  test(
    'shows no output of a resource that says NoEcho, and hands it over to others all the same',
    async () => {
      const reader = { Reader: { Properties: { Noted: { 'Fn::GetAtt': ['Thing', 'text'] }, Id: 'reader' } } };
      const masked = { ...one({ Id: 'a', NoEcho: true }), ...reader };
      expect(await deploy('Masked', masked)).toEqual({
        status: 'CREATE_COMPLETE',
        asked: ['Create nothing as a', 'Create nothing as "secret"'],
        output: 'text: *****',
      });
      const later = { Later: { Properties: { Noted: { 'Fn::GetAtt': ['Thing', 'text'] }, Id: 'later' } } };
      expect((await update('Masked', { ...masked, ...later })).asked).toEqual(['Create nothing as "secret"']);
    },
    A_TEST,
  );
});
