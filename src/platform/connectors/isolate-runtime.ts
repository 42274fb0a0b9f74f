/** Text of the modules that stand around a connector's in its isolate on Workers; node/connectors/isolate-runtime.ts reads them. */
export type IsolateRuntime = {
  /** worker.isolate.js */
  readonly main: string
  /** conduct.isolate.js */
  readonly conduct: string
}
