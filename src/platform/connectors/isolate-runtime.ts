/**
 * Texts of the modules that wrap a connector in its isolate on Workers; node/connectors/isolate-runtime.ts reads them.
 */
export type IsolateRuntime = {
  /** Text of worker.isolate.js. */
  readonly main: string
  /** Text of dispatch.isolate.js. */
  readonly dispatch: string
}
