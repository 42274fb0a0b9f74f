/** The client in the runtimes that it is for: this process, a Worker and a page of a browser. */
import { join } from 'node:path'
import { build } from 'esbuild'
import { prepareIsolate } from '../../../scripts/bench/isolate.ts'
import { openPage } from '../browser.ts'
import type { Answered } from './ask.ts'
import type { ItemsRequest } from './items-call.ts'

export type Runtime = 'node' | 'workerd' | 'chromium'

export type Asking = (request: ItemsRequest) => Promise<Answered>

/** `page` is an address that serves an empty page. The Worker and the page end with this process. */
export function openRuntime(runtime: Runtime, page: string): Promise<Asking> {
  return openers[runtime](page)
}

const openers: Readonly<Record<Runtime, (page: string) => Promise<Asking>>> = {
  node: async () => (await import('./ask.ts')).ask,
  workerd: inWorker,
  chromium: inPage,
}

async function inWorker(): Promise<Asking> {
  const text = await bundle(`
    import { ask } from './ask.ts'
    export default {
      async fetch(request) {
        return Response.json(await ask(await request.json()).catch((error) => ({ message: String(error?.stack ?? error) })))
      }
    }`)
  const compatibility = { date: '2026-10-01', flags: [] }
  const prepared = await prepareIsolate({ bundle: { modules: [{ name: 'worker.js', text }], compatibility } })
  const { port } = await prepared.start()
  await prepared.remove()
  return async (request) => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify(request) })
    return required((await response.json()) as Answered | Failed)
  }
}

async function inPage(address: string): Promise<Asking> {
  const content = await bundle(`
    import { ask } from './ask.ts'
    globalThis.ask = (request) => ask(request).catch((error) => ({ message: String(error?.stack ?? error) }))`)
  const page = await openPage()
  await page.goto(address)
  await page.addScriptTag({ content, type: 'module' })
  await page.waitForFunction('globalThis.ask !== undefined')
  return async (request) => required(await page.evaluate(`ask(${JSON.stringify(request)})`))
}

type Failed = { readonly message: string }

function required(answered: Answered | Failed): Answered {
  if ('message' in answered) throw new Error(answered.message)
  return answered
}

async function bundle(contents: string): Promise<string> {
  const stdin = { contents, loader: 'ts' as const, resolveDir: join(import.meta.dirname) }
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', write: false, minify: true })
  return outputFiles[0]?.text ?? ''
}
