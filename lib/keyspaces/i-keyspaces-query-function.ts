import type { IQueryFunction } from '../function/query-function';

/**
 * A function that queries sharded tables of Amazon Keyspaces, of this app or imported by
 * `KeyspacesQueryFunction.fromFunctionArn`.
 */
export interface IKeyspacesQueryFunction extends IQueryFunction {}
