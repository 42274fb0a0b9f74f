/** The laws of the ProviderGate port, against a real server on loopback; the same code serves both platforms. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openProviderGate } from '../../src/platform/provider-gate.ts'

let server: Server
let url: string
const asked: string[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    switch (request.url) {
      case '/moved':
        response.writeHead(302, { Location: '/json' }).end()
        return
      case '/large':
        response.writeHead(200).end('x'.repeat(2_000))
        return
      case '/packed':
        response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('x'.repeat(100_000)))
        return
      case '/never':
        response.writeHead(200).write('{')
        return
      default:
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"is":"json"}')
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

describe('an address', () => {
  const [deployed, local] = [openProviderGate({ allowPrivate: false }), openProviderGate({ allowPrivate: true })]

  it.each([
    'https://id.example.com',
    'https://id.example.com:8443/path?q=1',
    'https://8.8.8.8/',
    'https://[2606:4700::1]/',
  ])('may be %s', (address) => {
    expect(deployed.refusal(address)).toBeUndefined()
    expect(local.refusal(address)).toBeUndefined()
  })

  it.each([
    'nonsense',
    'http://id.example.com/',
    'http://10.0.0.1/',
    'ftp://id.example.com/',
    'file:///etc/passwd',
    'data:application/json,{}',
    'https://user@id.example.com/',
    'https://user:password@id.example.com/',
    'http://127.0.0.1.example.com/',
  ])('may nowhere be %s', (address) => {
    expect(deployed.refusal(address)).toMatch(/^must /)
    expect(local.refusal(address)).toMatch(/^must /)
  })

  it.each([
    'http://127.0.0.1:8080/',
    'http://localhost/',
    'http://[::1]/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://localhost./',
    'https://id.localhost/',
    'https://[::ffff:127.0.0.1]/',
  ])('is on loopback, so that only a local run may use %s', (address) => {
    expect(deployed.refusal(address)).toMatch(/^must /)
    expect(local.refusal(address)).toBeUndefined()
  })

  it.each([
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://192.168.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://intranet/',
    'https://metadata.google.internal/',
    'https://printer.local/',
  ])('is private, so that only a local run may use %s', (address) => {
    expect(deployed.refusal(address)).toMatch(/^must /)
    expect(local.refusal(address)).toBeUndefined()
  })
})

describe('a request', () => {
  it('is answered with status, type and body', async () => {
    const response = await openProviderGate({ allowPrivate: true }).fetch(`${url}/json`, {})

    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(await response.json()).toEqual({ is: 'json' })
  })

  it('follows no redirect', async () => {
    const response = await openProviderGate({ allowPrivate: true }).fetch(`${url}/moved`, { redirect: 'follow' })

    expect(response.status).toBe(302)
    expect(asked.at(-1)).toBe('/moved')
  })

  it.each(['/large', '/packed'])('ends when the answer gets too large: %s', async (path) => {
    const gate = openProviderGate({ allowPrivate: true, latest: 60_000, largest: 1_000 })

    await expect(gate.fetch(url + path, {})).rejects.toThrow('larger than 1000 bytes')
  })

  it('ends when the answer is late', async () => {
    const gate = openProviderGate({ allowPrivate: true, latest: 50, largest: 1_000 })

    await expect(gate.fetch(`${url}/never`, {})).rejects.toThrow()
  })

  it('is not even sent to an address that is refused', async () => {
    await expect(openProviderGate({ allowPrivate: false }).fetch(`${url}/refused`, {})).rejects.toThrow(
      'must be an https address',
    )

    expect(asked).not.toContain('/refused')
  })
})
