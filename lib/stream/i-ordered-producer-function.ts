import type { IBundledFunction } from '../function/i-bundled-function';

/** An ordered producer, of this app or imported by `OrderedProducerFunction.fromFunctionArn`. */
export interface IOrderedProducerFunction extends IBundledFunction {}
