import type { IBundledFunction } from '../function/i-bundled-function';

/** A function that queries sharded indexes, of this app or imported by `FanOutQueryFunction.fromFunctionArn`. */
export interface IFanOutQueryFunction extends IBundledFunction {}
