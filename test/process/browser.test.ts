/** The Chromium of the tests, decision 082. */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { openPage, unpackChromium } from '../support/browser.ts'

const run = promisify(execFile)

it('a page shows what this machine serves, and reaches nothing else', async () => {
  const server = createServer((_, response) => response.end('<title>here</title>')).listen(0, '127.0.0.1')
  const page = await openPage()
  onTestFinished(() => page.context().close())
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo

  for (const host of ['127.0.0.1', 'localhost']) {
    await page.goto(`http://${host}:${port}/`)
    expect(await page.title()).toBe('here')
  }
  const elsewhere = ['https://example.com/', 'http://192.0.2.1/', 'http://[2001:db8::1]/']
  const reached = elsewhere.map((address) =>
    page.evaluate((address) => fetch(address).then(() => address, String), address),
  )
  expect(await Promise.all(reached)).toEqual(elsewhere.map(() => 'TypeError: Failed to fetch'))
})

it('ends with the process that opened it', async () => {
  const module = JSON.stringify(join(import.meta.dirname, '../support/browser.ts'))
  const script = `
    const { openPage } = await import(${module})
    const page = await openPage()
    const session = await page.context().browser().newBrowserCDPSession()
    const { processInfo } = await session.send('SystemInfo.getProcessInfo')
    console.log(processInfo.find(({ type }) => type === 'browser').id)
    process.kill(process.pid, 'SIGKILL')`
  const killed = await run(process.execPath, ['--input-type=module', '--eval', script]).catch((ended) => ended)
  const id = Number(killed.stdout)

  expect(killed.signal).toBe('SIGKILL')
  await expect.poll(() => isRunning(id)).toBe(false)
})

it('is unpacked by two at once without a file in parts, and is there the next time', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'chromium-'))
  onTestFinished(() => rm(cache, { recursive: true, force: true }))
  const [folder = '', second] = await Promise.all([unpackChromium(cache), unpackChromium(cache)])

  expect(second).toBe(folder)
  expect(await unpackChromium(cache)).toBe(folder)
  expect(await readdir(cache)).toHaveLength(1)
  expect(await readdir(folder)).toEqual(expect.arrayContaining(['al2023', 'chromium', 'fonts', 'fonts.conf']))
})

function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0)
  } catch {
    return false
  }
}
