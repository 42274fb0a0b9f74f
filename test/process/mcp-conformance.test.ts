/** The protocol's own conformance suite; what does not apply stands in mcp-conformance.yaml, with reasons. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NodeService, startService } from '../support/service/node-service.ts'

const run = promisify(execFile)
let service: NodeService

beforeAll(async () => {
  service = await startService('agents', { collections: {}, keys: {}, relations: [] })
})
afterAll(() => service.close())

it('passes the scenarios that apply, and fails no others than those that are listed', async () => {
  const root = join(import.meta.dirname, '../..')
  const script = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  const url = `${service.url}/api/agents/mcp?access_token=${service.token}`
  const baseline = join(import.meta.dirname, 'mcp-conformance.yaml')
  const parameters = [script, 'server', '--url', url, '--suite', 'all', '--expected-failures', baseline]

  // It ends with another exit code, which throws here, where anything is not as listed.
  const { stdout } = await run(process.execPath, parameters, { maxBuffer: 64e6 })

  const passed = [...stdout.matchAll(/^✓ (\S+): ([1-9]\d*) passed, 0 failed$/gm)].map(([, name]) => name)
  expect(passed).toEqual(['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'])
})
