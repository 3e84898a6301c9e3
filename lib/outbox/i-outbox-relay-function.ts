import type { IBundledFunction } from '../function/i-bundled-function';

/** The relay of an outbox, of this app or imported by `OutboxRelayFunction.fromFunctionArn`. */
export interface IOutboxRelayFunction extends IBundledFunction {}
