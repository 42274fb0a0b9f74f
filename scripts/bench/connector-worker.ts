/** A Worker that calls a connector in its isolate `?calls=` times; the time is measured outside. */
import { exports } from 'cloudflare:workers'
import { createCloudflareConnectorHost } from '../../src/platform/cloudflare/connector-host.ts'
import type { GateProps } from '../../src/platform/cloudflare/gate.ts'
import type { IsolateRuntime } from '../../src/platform/connectors/isolate-runtime.ts'
import type { ConnectorSession } from '../../src/ports/connectors.ts'

export { ConnectorGate } from '../../src/platform/cloudflare/gate.ts'

type Env = { readonly LOADER: WorkerLoader; readonly RUNTIME: IsolateRuntime; readonly CODE: string }

let session: ConnectorSession | undefined

export default {
  async fetch(request, env) {
    session ??= open(env)
    const calls = Number(new URL(request.url).searchParams.get('calls'))
    for (let call = 0; call < calls; call += 1) {
      const reply = await session.call('query', { call })
      if (reply.kind !== 'value') return new Response(JSON.stringify(reply), { status: 500 })
    }
    return new Response('called')
  },
} satisfies ExportedHandler<Env>

function open({ LOADER: loader, RUNTIME: runtime, CODE: code }: Env): ConnectorSession {
  // The generated types do not know the exports of this Worker.
  const { ConnectorGate: gate } = exports as unknown as {
    readonly ConnectorGate: (options: { readonly props: GateProps }) => Fetcher
  }
  const limits = { timeLimit: 30_000, busyLimit: 5_000, allowPrivate: true }
  const host = createCloudflareConnectorHost({ loader, openGate: (props) => gate({ props }), runtime, limits })
  return host.open({ id: 'bench', code, grant: [], config: null })
}
