import { copyFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fetchedFolder, jarsOf, PYTHON_NEEDED, pythonWith, succeeds } from '../../support/fetched';
import { NODE_PEER } from './node-peers';

/** A library that puts records, with its own program. */
export interface Peer {
  readonly name: string;
  /**
   * The share of the records of a scenario that this peer puts. A peer that sends single records would need minutes for
   * all records.
   */
  readonly share?: number;
  /** The command that runs the peer. Undefined if its tools are missing. The first run fetches packages into a cache. */
  prepare(surroundings: { program: string; port: number; temporaryFolder: string }): string[] | undefined;
  /** The tools that the peer needs. */
  readonly needs: string;
}

const SOURCES = resolve('test/bench/peers');

/** The peers. The first peer is the baseline. */
export const PEERS: readonly Peer[] = [
  nodePeer("the SDK's `PutRecords`, resent", 'sdk-put-records'),
  { ...nodePeer("the SDK's `PutRecord`, key by key", 'sdk-put-record'), share: 1 / 10 },
  nodePeer('`OrderedProducer`', 'ours-plain'),
  nodePeer('`OrderedProducer`, aggregation', 'ours-per-key'),
  nodePeer('`OrderedProducer`, packed', 'ours-packed'),
  nodePeer('`OrderedProducer`, packed, with a sequence', 'ours-packed-sequence'),
  {
    name: 'KPL 1.0.7 (Java and its daemon)',
    needs: 'Maven, Maven Central, and a JDK of version 17 or newer',
    prepare({ port, temporaryFolder }) {
      const jars = jarsOf('peers-kpl-1.0.7', join(SOURCES, 'kpl/pom.xml'));
      const path = `${jars}/*:${temporaryFolder}`;
      if (jars === undefined || !succeeds('javac', '-cp', path, '-d', temporaryFolder, join(SOURCES, 'kpl/Put.java')))
        return undefined;
      return ['java', '-cp', path, 'Put', String(port), temporaryFolder];
    },
  },
  pythonPeer('aiokpl 0.2.0', 'put_aiokpl.py'),
  pythonPeer('aws_kinesis_agg 1.2.3 and boto3', 'put_agg.py'),
  npmPeer('aws-kinesis-agg 4.2.8 of npm', 'npm-aws-kinesis-agg'),
  npmPeer('@shutterstock/kinesis-helpers 1.0.15', 'npm-kinesis-helpers'),
  { ...npmPeer('kinesis 1.2.2 of npm', 'npm-kinesis'), share: 1 / 200 },
];

function nodePeer(name: string, peer: string): Peer {
  return {
    name,
    needs: 'nothing',
    prepare: ({ program, port }) => [process.execPath, program, NODE_PEER, peer, String(port), ''],
  };
}

function npmPeer(name: string, peer: string): Peer {
  return {
    name,
    needs: 'the registry of npm',
    prepare({ program, port }) {
      const packages = fetchedFolder('peers-npm-1', (folder) => {
        mkdirSync(folder, { recursive: true });
        copyFileSync(join(SOURCES, 'npm/package.json'), join(folder, 'package.json'));
        // These packages use the SDK of this project.
        return succeeds('npm', 'install', '--prefix', folder, '--ignore-scripts', '--omit=peer', '--no-audit');
      });
      if (packages === undefined) return undefined;
      return [process.execPath, program, NODE_PEER, peer, String(port), join(packages, 'package.json')];
    },
  };
}

function pythonPeer(name: string, script: string): Peer {
  return {
    name,
    needs: PYTHON_NEEDED,
    prepare({ port }) {
      const packages = ['--no-deps', '-r', join(SOURCES, 'python/requirements.txt')];
      const python = pythonWith('peers-python-1', packages, 'aiokpl, boto3, aws_kinesis_agg');
      return python === undefined ? undefined : [python, join(SOURCES, 'python', script), String(port)];
    },
  };
}
