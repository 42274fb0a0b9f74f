/** Reads the modules that wrap a connector on Workers, for the bundle and the tests. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IsolateRuntime } from '../../connectors/isolate-runtime.ts'

export function readIsolateRuntime(): IsolateRuntime {
  return { main: read('worker.isolate.js'), dispatch: read('dispatch.isolate.js') }
}

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, '../../connectors', name), 'utf8')
}
