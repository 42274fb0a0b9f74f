/**
 * docs/contract.md#observing: what a Node process tells Prometheus and OpenTelemetry, only where it is asked to, and
 * never a secret.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NodeServer, startNode } from '../../handlers/node.ts'
import { startPostgres } from '../support/servers/postgres.ts'

let postgres: Awaited<ReturnType<typeof startPostgres>>
const secret = randomBytes(32).toString('base64url')

beforeAll(async () => {
  postgres = await startPostgres()
})

afterAll(() => postgres?.close())

function environment(variables: Record<string, string>) {
  return { SERVICE_DATABASE_URL: postgres.url, SERVICE_SECRET: secret, PORT: '0', ...variables }
}

describe('metrics', () => {
  let server: NodeServer

  afterAll(() => server?.close())

  it('count requests by route, and hold nothing that a caller has written', async () => {
    server = await startNode({ environment: environment({ SERVICE_METRICS__ENABLED: 'true' }), observe: () => {} })
    await fetch(`${server.url}/api/canary-name/roles?access_token=canary-token`)
    await fetch(`${server.url}/canary-path`)
    await fetch(`${server.url}/api/system/info`, { method: 'PROPFIND' })

    const response = await fetch(`${server.url}/metrics`)
    const text = await response.text()

    expect(response.headers.get('Content-Type')).toContain('text/plain')
    expect(text).toContain(
      'service_http_request_duration_seconds_count{method="GET",route="/api/:workspace/roles",status="401"} 1',
    )
    expect(text).toContain('route="none",status="404"')
    expect(text).toContain('method="other",route="/api/system/info",status="405"')
    expect(text).not.toContain('PROPFIND')
    expect(text).toContain('process_cpu_seconds_total')
    expect(text.toLowerCase()).not.toContain('canary')
  })

  it('are nowhere unless a variable allows them', async () => {
    const closed = await startNode({ environment: environment({}), observe: () => {} })

    expect((await fetch(`${closed.url}/metrics`)).status).toBe(404)
    await closed.close()
  })
})

describe('traces', () => {
  let collector: Server
  const sent: { readonly path: string | undefined; readonly body: unknown }[] = []

  beforeAll(async () => {
    collector = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      sent.push({ path: request.url, body: JSON.parse(Buffer.concat(chunks).toString()) })
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
    })
    collector.listen(0, '127.0.0.1')
    await once(collector, 'listening')
  })

  afterAll(() => {
    collector?.close()
  })

  it('are sent as the standard variables say, with the route, the status and the trace of the caller', async () => {
    const { port } = collector.address() as AddressInfo
    const child = spawn(process.execPath, [join(import.meta.dirname, '../../scripts/start-node.ts')], {
      env: {
        ...process.env,
        ...environment({
          OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
          OTEL_SERVICE_NAME: 'orders',
          OTEL_BSP_SCHEDULE_DELAY: '50',
        }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    let url = ''
    for await (const line of createInterface(child.stdout)) {
      url = /Listening on (\S+)/.exec(line)?.[1] ?? ''
      if (url !== '') break
    }
    const trace = 'a'.repeat(32)
    const notSampled = 'c'.repeat(32)
    for (const traceparent of [`00-${trace}-${'b'.repeat(16)}-01`, `00-${notSampled}-${'b'.repeat(16)}-00`]) {
      await fetch(`${url}/api/system/ready?access_token=canary`, { headers: { traceparent } })
    }
    child.kill('SIGTERM')
    await exited

    const text = JSON.stringify(sent)
    // In one batch or two, as far apart as the requests were.
    expect(new Set(sent.map(({ path }) => path))).toEqual(new Set(['/v1/traces']))
    expect(text).toContain('GET /api/system/ready')
    expect(text).toContain(`"traceId":"${trace}"`)
    expect(text, 'whoever asks does not decide whether they are traced').toContain(`"traceId":"${notSampled}"`)
    expect(text).toContain('{"key":"service.name","value":{"stringValue":"orders"}}')
    expect(text).not.toContain('canary')
  })
})
